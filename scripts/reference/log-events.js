/**
 * The log events as the source writes them: name, levels and fields, found by the TypeScript compiler, so
 * that a line logged without a word in any table is in the reference too.
 *
 * Two forms are known: `log.warn({ event: 'name', … })`, and functions that take their level from a
 * table, `log[levels[event]]({ event, …fields })`, with the calls of them.
 */

import { dirname, join, relative } from 'node:path'
import { fileURLToPath, URL } from 'node:url'
import ts from 'typescript'

const root = fileURLToPath(new URL('../..', import.meta.url))
const levels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal']

/** Sorted by name; fields are those of all places that write the event. */
export function readLogEvents() {
  const { fileNames, options } = configuration()
  const program = ts.createProgram(fileNames, { ...options, noEmit: true })
  const checker = program.getTypeChecker()
  const calls = program
    .getSourceFiles()
    .filter(({ fileName }) => isOurs(fileName))
    .flatMap(callsIn)
  const tables = new Map(calls.flatMap((call) => tableOfWriter(call, checker)))
  const events = new Map()
  for (const call of calls) {
    for (const found of writtenDirectly(call, checker) ?? writtenByTable(call, tables, checker)) {
      const event = events.get(found.name) ?? { levels: new Set(), fields: new Set() }
      found.levels.forEach((level) => event.levels.add(level))
      found.fields.forEach((field) => event.fields.add(field))
      events.set(found.name, event)
    }
  }
  return [...events]
    .map(([name, event]) => ({
      name,
      levels: levels.filter((level) => event.levels.has(level)),
      // The compiler's order depends on which file it reads first.
      fields: [...event.fields].sort(),
    }))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
}

function configuration() {
  const file = join(root, 'tsconfig.build.json')
  const { config } = ts.readConfigFile(file, ts.sys.readFile)
  return ts.parseJsonConfigFileContent(config, ts.sys, dirname(file))
}

/** The demo is no service: it talks to who watches it. */
function isOurs(fileName) {
  const path = relative(root, fileName)
  return path.startsWith('src/') && !path.startsWith('src/demo/')
}

function callsIn(source) {
  const calls = []
  const visit = (node) => {
    if (ts.isCallExpression(node)) calls.push(node)
    ts.forEachChild(node, visit)
  }
  visit(source)
  return calls
}

/** `log[table[event]](…)` in a function makes that function a writer, its table the levels. */
function tableOfWriter(call, checker) {
  const { expression } = call
  if (!ts.isElementAccessExpression(expression)) return []
  const level = expression.argumentExpression
  if (!ts.isElementAccessExpression(level)) return []
  const writer = ts.findAncestor(call, ts.isFunctionDeclaration)
  if (writer?.name === undefined) return []
  const table = checker.getTypeAtLocation(level.expression)
  const rows = table
    .getProperties()
    .map(({ name }) => [name, literals(checker.getTypeOfPropertyOfType(table, name))])
  return [[checker.getSymbolAtLocation(writer.name), new Map(rows)]]
}

/** `log.warn({ event: 'name', … })` or `log[level]({ event: 'name', … })`. */
function writtenDirectly(call, checker) {
  const object = literalBehind(call.arguments[0], checker)
  if (object === undefined) return undefined
  const named = object.properties.find((property) => property.name?.getText() === 'event')
  if (named?.initializer === undefined || !ts.isStringLiteral(named.initializer)) return undefined
  const { expression } = call
  const found = ts.isPropertyAccessExpression(expression)
    ? [expression.name.text]
    : ts.isElementAccessExpression(expression)
      ? literals(checker.getTypeAtLocation(expression.argumentExpression))
      : []
  if (found.length === 0 || !found.every((level) => levels.includes(level))) return undefined
  const fields = fieldNames(checker.getTypeAtLocation(object))
  return [{ name: named.initializer.text, levels: found, fields }]
}

/** The object literal itself, or the one that a constant stands for. */
function literalBehind(node, checker) {
  if (node === undefined || ts.isObjectLiteralExpression(node)) return node
  if (!ts.isIdentifier(node)) return undefined
  const { initializer } = checker.getSymbolAtLocation(node)?.valueDeclaration ?? {}
  return initializer && ts.isObjectLiteralExpression(initializer) ? initializer : undefined
}

function writtenByTable(call, tables, checker) {
  const symbol = checker.getSymbolAtLocation(call.expression)
  if (symbol === undefined) return []
  const target = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol
  const table = tables.get(target)
  if (table === undefined) return []
  const [, event, fields] = call.arguments
  return literals(checker.getTypeAtLocation(event)).map((name) => {
    const found = table.get(name)
    if (found === undefined) throw new Error(`${name} is in no table: ${call.getText()}`)
    return {
      name,
      levels: found,
      fields: fields === undefined ? [] : fieldNames(checker.getTypeAtLocation(fields)),
    }
  })
}

/** Of a union, the fields of each of its parts. */
function fieldNames(type) {
  const parts = type.isUnion() ? type.types : [type]
  return [...new Set(parts.flatMap((part) => part.getProperties().map(({ name }) => name)))].filter(
    (name) => name !== 'event',
  )
}

function literals(type) {
  if (type === undefined) return []
  const parts = type.isUnion() ? type.types : [type]
  return parts.flatMap((part) => (part.isStringLiteral() ? [part.value] : []))
}
