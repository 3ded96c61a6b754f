local function rule(files)
  local blank, comments, long = 0, 0, 0
  local found = {}
  for _, file in ipairs(files) do
    for line in file.text:gmatch("([^\n]*)\n?") do
      if #line > 60 then
        long = long + 1
      end
      local code = line:match("^%s*(.*%S)") or ""
      if code == "" then
        blank = blank + 1
      elseif code:sub(1, 2) == "//" then
        comments = comments + 1
      elseif code:find("unwrap()", 1, true) and code:sub(-10) ~= "// checked" then
        found[#found + 1] = code
      end
    end
  end
  return {
    verdict = #found == 0 and "Allow" or "Block",
    rule = "rule",
    findings = found,
    count = blank + 10000 * comments + 100000000 * long,
  }
end
return { rule = rule }
