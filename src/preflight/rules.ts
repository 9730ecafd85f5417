import { parseMessage } from '../preview/parse.ts';
import { checkMail } from './check.ts';
import { CLIENT_RULES } from './client-rules.ts';
import { CONTENT_RULES } from './content-rules.ts';
import type { Finding, MailDraft, Way } from './contract.ts';
import { HEADER_RULES } from './header-rules.ts';
import { IMAGE_RULES } from './image-rules.ts';
import { LINK_RULES } from './link-rules.ts';
import { mailOf, mailOfDraft } from './mail.ts';
import type { Rule } from './rule.ts';
import { TEXT_RULES } from './text-rules.ts';
import { WAY_RULES } from './way-rules.ts';

/** Every rule, in the order of the pages. */
export const RULES: readonly Rule[] = [
  ...WAY_RULES,
  ...HEADER_RULES,
  ...CONTENT_RULES,
  ...TEXT_RULES,
  ...IMAGE_RULES,
  ...LINK_RULES,
  ...CLIENT_RULES,
];

/** Reads a message, and checks it. Throws `PreviewError`. */
export async function checkMessage(bytes: Uint8Array, way: Way): Promise<Finding[]> {
  return checkMail(mailOf(await parseMessage(bytes), bytes.length), way, RULES);
}

/** Checks a draft. */
export function checkDraft(draft: MailDraft, way: Way): Finding[] {
  return checkMail(mailOfDraft(draft), way, RULES);
}
