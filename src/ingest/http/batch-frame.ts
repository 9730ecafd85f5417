import { parseJson } from '../../http/json.ts';
import { type FieldFault, Problem, pointerToken, quote } from '../../http/problem.ts';
import { Suggester } from '../../http/suggest.ts';
import { refuseFaults } from './faults.ts';
import type { IngestLimits } from './limits.ts';

/** What stands around the messages of a batch: `{"messages": [ … ]}` and nothing else. */

const NAME = 'messages';
const SHAPE = '{"messages": [ … ]}';

/** Checks the frame of a batch, in which every message is `0`. Throws a problem 400. */
export function readFrame(
  frame: Buffer,
  limits: Pick<IngestLimits, 'maxBatchMessages' | 'maxJsonDepth'>,
): void {
  refuseFaults(frameFaults(parseFrame(frame, limits)));
}

function parseFrame(
  frame: Buffer,
  { maxJsonDepth, maxBatchMessages }: Parameters<typeof readFrame>[1],
): unknown {
  try {
    // Beside the messages there is room for mistakes, so that they can be told by name.
    return parseJson(frame, { maxDepth: maxJsonDepth, maxValues: 2 * maxBatchMessages + 100 });
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'malformed_json' || isBlank(frame) || hasMark(frame))
      throw error;
    const detail = `The body is not well-formed JSON outside of its messages; it must be ${SHAPE}.`;
    throw new Problem(400, error.code, detail);
  }
}

function frameFaults(value: unknown): FieldFault[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return [{ pointer: '', code: 'type', detail: `Must be an object: ${SHAPE}.` }];
  const suggester = new Suggester();
  const faults = Object.keys(value)
    .filter((name) => name !== NAME)
    .map((name) => ({
      pointer: `/${pointerToken(name)}`,
      code: 'unknown_field',
      detail: `There is no field ${quote(name)}.${suggester.didYouMean(name, [NAME])} A batch is ${SHAPE}.`,
    }));
  const messages: unknown = Reflect.get(value, NAME);
  if (messages === undefined || messages === null)
    faults.unshift(fault('required', `Is required: ${SHAPE}.`));
  else if (!Array.isArray(messages)) faults.unshift(fault('type', 'Must be an array of messages.'));
  else if (messages.length === 0) faults.unshift(fault('required', 'Must hold at least one message.'));
  return faults;
}

function fault(code: string, detail: string): FieldFault {
  return { pointer: `/${NAME}`, code, detail };
}

/** Whether it begins with a byte order mark, which the parser tells of. */
function hasMark(frame: Buffer): boolean {
  return frame.toString('utf8', 0, 3) === '\ufeff';
}

function isBlank(frame: Buffer): boolean {
  return frame.toString('latin1').trim() === '';
}
