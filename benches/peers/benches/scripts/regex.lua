local function rule(files)
  local found = {}
  for _, file in ipairs(files) do
    if file.path:sub(-3) == ".rs" and regex_match("\\bunwrap_\\d+\\(\\)", file.text) then
      found[#found + 1] = file.path
    end
  end
  return {
    verdict = #found == 0 and "Allow" or "Block",
    rule = "rule",
    findings = found,
    count = #found,
  }
end
return { rule = rule }
