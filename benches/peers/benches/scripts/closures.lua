local function filter(list, holds)
  local kept = {}
  for _, item in ipairs(list) do
    if holds(item) then
      kept[#kept + 1] = item
    end
  end
  return kept
end

local function split(text)
  local lines = {}
  for line in text:gmatch("([^\n]*)\n?") do
    lines[#lines + 1] = line
  end
  return lines
end

local function rule(files)
  local lines = split(files[1].text)
  local found = filter(lines, function(line)
    return line:find("unwrap()", 1, true) and line:sub(-10) ~= "// checked"
  end)
  local marked = filter(lines, function(line)
    return (line:match("^%s*(.*%S)") or ""):sub(1, 2) == "//"
  end)
  return {
    verdict = #found == 0 and "Allow" or "Block",
    rule = "rule",
    findings = found,
    count = #marked,
  }
end
return { rule = rule }
