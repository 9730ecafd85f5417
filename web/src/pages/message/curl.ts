import { escaped } from '../../parts/values.tsx';
import { quoted } from '../../quoted.ts';

/** The command that submits a message again. */

/** Characters that would make the command look other than it is. */
const TRICKS = /[\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;

function asJson(value: unknown): string {
  return JSON.stringify(value, null, 2).replace(TRICKS, escaped);
}

/** Submits `message` to the API at `apiUrl`; the key comes from the environment, so that none is in the history. */
export function curlOf(message: Readonly<Record<string, unknown>>, apiUrl: string): string {
  return [
    `curl ${quoted(`${apiUrl.replace(/\/+$/, '')}/api/v1/messages`)}`,
    '  -H "Authorization: Bearer $WAYBILL_KEY"',
    "  -H 'Content-Type: application/json'",
    `  --data-raw ${quoted(asJson(message))}`,
  ].join(' \\\n');
}
