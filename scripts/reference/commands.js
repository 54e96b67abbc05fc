/** The commands as the command line knows them: what they take, and what for. */

import { createProgram } from '../../dist/commands/command-line.js'

/** In the order of `--help`; groups such as `provisions` are given by their members. */
export function readCommands() {
  const program = createProgram(
    {},
    () => Promise.resolve(),
    () => undefined,
  )
  return leavesOf(program, [])
}

function leavesOf(command, path) {
  if (command.commands.length > 0) {
    return command.commands.flatMap((child) => leavesOf(child, [...path, child.name()]))
  }
  const help = command.createHelp()
  return [
    {
      usage: ['chat-provision-retry', ...path, ...command.registeredArguments.map(argument)].join(
        ' ',
      ),
      about: command.description(),
      options: help
        .visibleOptions(command)
        .filter((option) => option.long !== '--help')
        .map((option) => ({
          term: help.optionTerm(option),
          about: help.optionDescription(option),
          isRequired: option.mandatory,
        })),
    },
  ]
}

/** As commander writes them: `<deal-id>`, `[deal-ids...]`. */
function argument(taken) {
  const text = taken.variadic ? `${taken.name()}...` : taken.name()
  return taken.required ? `<${text}>` : `[${text}]`
}
