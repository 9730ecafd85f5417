import type { Parameter } from './parameter.ts';

/** A media type with its parameters (RFC 2045 §5.1). */
export interface ContentType {
  /** `type/subtype` in lower case. */
  readonly type: string;
  /** Names in lower case, values unquoted. */
  readonly parameters: readonly Parameter[];
}

const MAX_LENGTH = 1024;
const TYPE = /^[ \t]*([\w!#$%&'*+.^`{|}~-]+\/[\w!#$%&'*+.^`{|}~-]+)[ \t]*/y;
const PARAMETER =
  /;[ \t]*([\w!#$%&'*+.^`{|}~-]+)=(?:([\w!#$%&'*+.^`{|}~-]+)|"((?:[^"\\\0-\x08\x0a-\x1f\x7f]|\\[\t\x20-\x7e])*)")[ \t]*/y;
const REST = /^;?[ \t]*$/;

/** Reads a Content-Type value that a client gave; null when it is not one, or is longer than so many characters. */
export function parseContentType(text: string, maxLength: number = MAX_LENGTH): ContentType | null {
  if (text.length > maxLength) return null;
  TYPE.lastIndex = 0;
  const type = TYPE.exec(text)?.[1];
  if (type === undefined) return null;
  const parameters: Parameter[] = [];
  let at = TYPE.lastIndex;
  for (PARAMETER.lastIndex = at; ; at = PARAMETER.lastIndex) {
    const match = PARAMETER.exec(text);
    if (match === null) break;
    const [, name = '', token, quoted = ''] = match;
    parameters.push([name.toLowerCase(), token ?? quoted.replace(/\\(.)/g, '$1')]);
  }
  return REST.test(text.slice(at)) ? { type: type.toLowerCase(), parameters } : null;
}
