/** The options in force as people read them: by name, as one would write them, without secrets. */

import type { Setting } from './config.js'
import { optionList, type OptionName } from './options.js'

/** What is shown of a secret that is set. */
const hidden = '[redacted]'

/** @param texts what was given for the options that are not left to their defaults */
export function settingsOf(texts: ReadonlyMap<OptionName, string>): readonly Setting[] {
  return optionList.map(([name, option]) => {
    const text = texts.get(name)
    const isSecret = option.secret === true
    const value = text ?? option.default ?? null
    return {
      name,
      value: isSecret && value !== null ? hidden : value,
      isDefault: text === undefined,
      isSecret,
      about: option.about,
    }
  })
}
