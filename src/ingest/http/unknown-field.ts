import { quote } from '../../http/problem.ts';
import type { Suggester } from '../../http/suggest.ts';

/** The refusal of an unknown field. It names the intended field, be that mistyped or named as at another service. */

/** Where the field was given, which decides the name of ours. */
export type Dress = 'json' | 'form' | 'attachment';

/** What to do instead, as a sentence. */
interface Cure {
  readonly json: string;
  readonly form: string;
}

const use = (json: string, form = json): Cure => ({ json: `Use "${json}".`, form: `Use "${form}".` });
const header = (name: string): Cure => ({
  json: `Set the header: "headers": {"${name}": "…"}.`,
  form: `Set the header: "h:${name}".`,
});
const say = (sentence: string): Cure => ({ json: sentence, form: sentence });

const METADATA: Cure = { json: 'Use "metadata": {"name": "value"}.', form: 'Use "v:<name>" for each value.' };
const HEADERS: Cure = { json: 'Use "headers": {"Name": "value"}.', form: 'Use "h:<Name>" for each header.' };
const CAPTURE = 'Send with a test key, and the mail is only captured; or use "dryRun" to check it.';

/** What other services (and we, in the other form) call our fields: lower case, without `_` and `-`. */
const CURES: readonly (readonly [Cure, readonly string[]])[] = [
  [use('from'), ['sender', 'fromemail', 'fromaddress', 'fromemailaddress', 'fromname', 'source']],
  [use('to'), ['recipient', 'recipients', 'toaddresses', 'destination', 'destinations', 'toname']],
  [use('cc'), ['ccaddresses']],
  [use('bcc'), ['bccaddresses']],
  [
    say('Give the recipients in "to", "cc" and "bcc" of separate messages.'),
    ['personalizations', 'recipientvariables'],
  ],
  [use('subject'), ['title']],
  [use('text'), ['textbody', 'bodytext', 'plaintext', 'textcontent', 'textpart', 'message']],
  [use('html'), ['htmlbody', 'bodyhtml', 'htmlcontent', 'htmlpart', 'react']],
  [say('Use "text" and "html".'), ['body', 'content', 'amphtml']],
  [header('Reply-To'), ['replyto', 'replytolist', 'replytoaddresses', 'h:replyto']],
  [header('In-Reply-To'), ['inreplyto']],
  [header('References'), ['references']],
  [header('Message-ID'), ['messageid']],
  [header('List-Unsubscribe'), ['listunsubscribe']],
  [HEADERS, ['headers', 'customheaders']],
  [use('attachments', 'attachment'), ['file', 'files', 'attach', 'inline', 'attachments']],
  [use('tags', 'o:tag'), ['tag', 'tags', 'o:tag', 'category', 'categories', 'emailtags']],
  [METADATA, ['metadata', 'customargs', 'uniqueargs', 'custom']],
  [
    use('sendAt', 'o:send-at'),
    ['sendat', 'scheduledat', 'deliverytime', 'o:deliverytime', 'o:sendat', 'deliverat'],
  ],
  [use('priority', 'o:priority'), ['priority', 'o:priority', 'importance']],
  [use('box', 'o:box'), ['mailbox', 'inbox', 'inboxid', 'xwaybillbox']],
  [use('dryRun', 'o:dry-run'), ['dryrun', 'o:dryrun', 'validateonly']],
  [say(CAPTURE), ['testmode', 'o:testmode', 'sandbox', 'sandboxmode', 'mailsettings']],
  [use('template'), ['templateid', 'templatealias', 'templatename']],
  [
    use('variables', 't:variables'),
    ['templatemodel', 'templatedata', 'dynamictemplatedata', 't:variables', 'variables'],
  ],
  [say('The published version is sent: leave it out.'), ['t:version', 'templateversion']],
  [
    say('Mail is never tracked: leave it out.'),
    [
      'trackopens',
      'tracklinks',
      'trackingsettings',
      'tracking',
      'o:tracking',
      'clicktracking',
      'opentracking',
    ],
  ],
  [
    say(
      'The time cannot be chosen per recipient: give it in "sendAt" ("o:send-at" in a form), or leave it out.',
    ),
    ['o:deliverytimeoptimizeperiod', 'o:timezonelocalize', 'o:timezonelocalization'],
  ],
  [
    say('Relays decide how certificates are verified: leave it out.'),
    ['o:skipverification', 'skipverification'],
  ],
  [
    say('Routes decide how mail leaves: leave it out.'),
    ['messagestream', 'configurationsetname', 'ippool', 'ippoolname', 'o:sendingip'],
  ],
];

/** What other services call the properties of an attachment. */
const ATTACHMENT_CURES: readonly (readonly [string, readonly string[]])[] = [
  ['Use "filename".', ['name', 'file']],
  ['Use "contentType".', ['type', 'mimetype', 'mediatype']],
  ['Use "contentId".', ['cid']],
  ['Use "content", the file as base64.', ['data', 'body', 'base64', 'bytes']],
  ['Use "content", the file as base64: files are not fetched.', ['path', 'url', 'href']],
  ['Use "disposition": "inline".', ['inline', 'isinline']],
];

const BY_NAME: ReadonlyMap<string, Cure> = new Map(
  CURES.flatMap(([cure, names]) => names.map((name) => [name, cure] as const)),
);
const BY_ATTACHMENT_NAME: ReadonlyMap<string, string> = new Map(
  ATTACHMENT_CURES.flatMap(([cure, names]) => names.map((name) => [name, cure] as const)),
);

/** The fault of the unknown field `name`; `known` are those that exist. */
export function unknownField(
  name: string,
  known: readonly string[],
  dress: Dress,
  suggester: Suggester,
): { readonly code: string; readonly detail: string } {
  const cure = cureOf(name, dress);
  const detail = `There is no field ${quote(name)}.${cure === null ? suggester.didYouMean(name, known) : ` ${cure}`}`;
  return { code: 'unknown_field', detail };
}

function cureOf(name: string, dress: Dress): string | null {
  const folded = name.slice(0, 64).toLowerCase().replace(/[_-]/g, '');
  if (dress === 'attachment') return BY_ATTACHMENT_NAME.get(folded) ?? null;
  const cure = BY_NAME.get(folded) ?? (dress === 'json' ? formPrefix(folded) : null);
  return cure?.[dress] ?? null;
}

/** A form's `h:<Name>` and `v:<name>`, given in JSON. */
function formPrefix(folded: string): Cure | null {
  if (folded.startsWith('h:')) return HEADERS;
  return folded.startsWith('v:') ? METADATA : null;
}
