/** How deep arrays and objects lie within each other in a JSON text that is known to be valid. */

export function jsonDepth(json: string): number {
  let depth = 0
  let deepest = 0
  let inString = false
  for (let at = 0; at < json.length; at += 1) {
    const char = json[at]
    if (inString) {
      if (char === '\\') at += 1
      else if (char === '"') inString = false
    } else if (char === '"') inString = true
    else if (char === '[' || char === '{') deepest = Math.max(deepest, (depth += 1))
    else if (char === ']' || char === '}') depth -= 1
  }
  return deepest
}
