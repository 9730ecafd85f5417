// biome-ignore-all lint/suspicious/noTemplateCurlyInString: edits quote the source.
/** Bugs of the other doors: providers' APIs, templates, and the inbox for tests. */
import type { Mutant } from './mutant.ts';
import { sqlite } from './traps.ts';

export const DOORS: readonly Mutant[] = [
  {
    name: 'batch-half-handed-over',
    breaks: 'What a provider takes as a whole is stored as a whole: here as far as there is room.',
    edits: [
      {
        file: 'src/ingest/http/hand-over.ts',
        before: 'const isWhole = together && made.length > 1;',
        after: 'const isWhole = together && made.length > 1_000;',
      },
    ],
    traps: [
      {
        file: 'test/protocol/http/providers/whole-batches.test.ts',
        test: 'emails of a batch are not stored in part',
      },
    ],
  },
  {
    name: 'batch-half-stored',
    breaks: 'What is accepted together is accepted as a whole or not at all.',
    edits: [
      {
        file: 'src/store/sqlite/accept.ts',
        before: '    if (refusal) return batch.map(() => refusal);\n',
        after: '',
      },
    ],
    traps: [sqlite('accept, all or none > accepts none if a key’s queue is full after some')],
  },
  {
    name: 'key-in-a-batch-collides',
    breaks: 'No key of a client names a message of a batch: here order-1 and its first message are order-10.',
    edits: [
      {
        file: 'src/ingest/http/idempotency.ts',
        before: 'return `${key}\\u001f`;',
        after: "return key.replace('\\u001f', '');",
      },
    ],
    traps: [
      {
        file: 'test/protocol/http/batch-repeated.test.ts',
        test: 'no key of a client leads to a message of a batch',
      },
    ],
  },
  {
    name: 'key-ended-while-it-was-read',
    breaks: 'A key that ends while its message is read brings no message in.',
    edits: [
      {
        file: 'src/ingest/http/hand-over.ts',
        before: '    await call.checkKey();\n',
        after: '',
      },
    ],
    traps: [
      {
        file: 'test/protocol/http/providers/ses-refused.test.ts',
        test: 'of a key that ends while its request is read',
      },
      { file: 'test/protocol/http/keys.test.ts', test: 'and for a message that comes in meanwhile' },
    ],
  },
  {
    name: 'signed-request-believed',
    breaks: 'A signed request is what was signed: here any signature with the name of a key will do.',
    edits: [
      {
        file: 'src/ingest/http/providers/ses/signature.ts',
        before: '  return isTrue;\n',
        after: '  return isTrue || signature.value.length === 64;\n',
      },
    ],
    traps: [
      { file: 'src/ingest/http/providers/ses/signature.test.ts', test: 'any changed byte is refused' },
      { file: 'test/protocol/http/providers/ses-refused.test.ts', test: 'with another secret is refused' },
    ],
  },
  {
    name: 'signed-body-not-looked-at',
    breaks: 'A signature is over the body, too: here over what the request says of it.',
    edits: [
      {
        file: 'src/ingest/http/providers/ses/access.ts',
        before: 'if (exchange.headers[DIGEST_HEADER] === digest) return body;',
        after: 'if (exchange.headers[DIGEST_HEADER] !== digest.slice(1)) return body;',
      },
    ],
    traps: [{ file: 'test/protocol/http/providers/ses-refused.test.ts', test: 'of another body is refused' }],
  },
  {
    name: 'signed-request-replayed',
    breaks: 'Who has seen a signed request may repeat it for fifteen minutes: here for ever.',
    edits: [
      {
        file: 'src/ingest/http/providers/ses/signature.ts',
        before: "  if (Math.abs(time - terms.now) > MAX_SKEW_MS) return 'expired';\n",
        after: '',
      },
    ],
    traps: [
      {
        file: 'src/ingest/http/providers/ses/signature.test.ts',
        test: 'is of at most fifteen minutes ago, or ahead',
      },
    ],
  },
  {
    name: 'signed-header-left-out',
    breaks: 'Every x-amz header must be signed: here one that is not counts all the same.',
    edits: [
      {
        file: 'src/ingest/http/providers/ses/signature.ts',
        before: "if (name.startsWith('x-amz-') && !signedHeaders.includes(name)) return false;",
        after: "if (name === 'x-amz-date' && !signedHeaders.includes(name)) return false;",
      },
    ],
    traps: [
      {
        file: 'src/ingest/http/providers/ses/signature.test.ts',
        test: 'that leaves out an x-amz header is none',
      },
    ],
  },
  {
    name: 'test-mail-sent',
    breaks: 'Mail of a test key goes nowhere but to the inbox, whatever the rules say.',
    edits: [
      {
        file: 'src/domain/route.ts',
        before: "  if (facts.test) return 'test-key';\n",
        after: '',
      },
    ],
    traps: [{ file: 'src/domain/route.test.ts', test: "a test key's mail is always local" }],
  },
  {
    name: 'template-value-as-markup',
    breaks: 'No value of a template is markup.',
    edits: [
      {
        file: 'src/templates/escape.ts',
        before: "    case 'html':\n      return { text: escapeHtml(value) };",
        after: "    case 'html':\n      return { text: value };",
      },
    ],
    traps: [
      { file: 'src/templates/render.test.ts', test: 'is escaped in HTML, and nowhere else' },
      {
        file: 'test/protocol/http/providers/ses.test.ts',
        test: 'of a template has its values, which HTML cannot take for markup',
      },
    ],
  },
  {
    name: 'template-value-leaves-its-quotes',
    breaks: 'No value of a template ends the attribute that it stands in.',
    edits: [
      {
        file: 'src/templates/escape.ts',
        before: 'return value.replace(/[&<>"\']/g, (char)',
        after: 'return value.replace(/[&<>]/g, (char)',
      },
    ],
    traps: [{ file: 'src/templates/render.test.ts', test: 'is escaped in HTML, and nowhere else' }],
  },
  {
    name: 'template-value-adds-to-a-url',
    breaks: 'A value in a URL is one value: here it may bring further ones.',
    edits: [
      {
        file: 'src/templates/escape.ts',
        before: "return { text: encodeURIComponent(value.toWellFormed()).replace(/[!'()*]/g, asPercent) };",
        after: 'return { text: escapeHtml(value) };',
      },
    ],
    traps: [{ file: 'src/templates/render.test.ts', test: 'behind the ? or # of a URL is one where values' }],
  },
  {
    name: 'template-link-runs-a-program',
    breaks: 'No value makes a program of a link: here one does that is written with references of HTML.',
    edits: [
      {
        file: 'src/templates/escape.ts',
        before: "const plain = url.replace(REFERENCE, decoded).replace(IGNORED, '');",
        after: "const plain = url.replace(IGNORED, '');",
      },
    ],
    traps: [{ file: 'src/templates/render.test.ts', test: 'keeps programs out of links' }],
  },
  {
    name: 'template-value-injects-a-header',
    breaks: 'A value in the subject stays on its line.',
    edits: [
      {
        file: 'src/templates/escape.ts',
        before: 'const LINE_BREAK = /[\\r\\n\\v\\f\\u0085\\u2028\\u2029]/;',
        after: 'const LINE_BREAK = /[\\r\\v\\f\\u0085\\u2028\\u2029]/;',
      },
    ],
    traps: [{ file: 'src/templates/render.test.ts', test: 'is on one line in a subject' }],
  },
  {
    name: 'template-value-inherited',
    breaks: 'A template shows values that were given: here also what every object has.',
    edits: [
      {
        file: 'src/templates/render.ts',
        before: '!Object.hasOwn(value, key)',
        after: '!(key in value)',
      },
    ],
    traps: [
      { file: 'src/templates/render.test.ts', test: 'is named with dots, and only by what is its own' },
    ],
  },
  {
    name: 'template-draft-sent',
    breaks: 'What is sent is the published version: here the newest one.',
    edits: [
      {
        file: 'src/store/plain/templates.ts',
        before: '}>`SELECT id, published_version AS version\n',
        after: '}>`SELECT id, version\n',
      },
    ],
    traps: [sqlite('templates > have one version that is sent, or none')],
  },
  {
    name: 'template-version-cached',
    breaks: 'Once another version is published, that is sent.',
    edits: [
      {
        file: 'src/ingest/http/templating.ts',
        before: 'const key = `${id} ${version}`;',
        after: 'const key = id;',
      },
    ],
    traps: [{ file: 'src/ingest/http/templating.test.ts', test: 'and another one when it is published' }],
  },
  {
    name: 'finding-lost',
    breaks: 'Of too many findings the worst are told: here the first.',
    edits: [
      {
        file: 'src/preflight/check.ts',
        before: 'return found.sort((a, b) => rank(a) - rank(b)).slice(0, MAX_FINDINGS);',
        after: 'return found.slice(0, MAX_FINDINGS).sort((a, b) => rank(a) - rank(b));',
      },
    ],
    traps: [{ file: 'src/preflight/check.test.ts', test: 'the worst comes first, and there is an end' }],
  },
  {
    name: 'unchecked-said-to-be-well',
    breaks: 'What could not be checked is not said to be well.',
    edits: [
      {
        file: 'src/preflight/preflighter.ts',
        before: '[...WAY_RULES, { ...UNCHECKED, find: () => [uncheckedBecause(why)] }]',
        after: '[...WAY_RULES, { ...UNCHECKED, find: () => (why === null ? [uncheckedBecause(why)] : []) }]',
      },
    ],
    traps: [{ file: 'src/preflight/preflighter.test.ts', test: 'what cannot be checked is a finding' }],
  },
  {
    name: 'boxes-mixed',
    breaks: 'Tests that share a key do not see the mail of one another.',
    edits: [
      {
        file: 'src/store/sqlite/pages.ts',
        before: 'if (filter?.captured && tag === null && box !== undefined)\n',
        after: "if (filter?.captured && tag === null && box === '')\n",
      },
      {
        file: 'src/store/sqlite/pages.ts',
        before: '        if (box !== undefined && itsBox !== box) return false;\n',
        after: '',
      },
    ],
    traps: [sqlite('captured mail > finds those of a box, of one key or of all')],
  },
  {
    name: 'inbox-of-another-key',
    breaks: 'A key opens what it captured itself.',
    edits: [
      {
        file: 'src/ingest/http/inbox/captured-mail.ts',
        before: 'return isKept && message.keyId === keyId && ',
        after: 'return isKept && ',
      },
    ],
    traps: [
      {
        file: 'test/protocol/http/mailpit.test.ts',
        test: 'sees nothing of other keys, whatever its scopes',
      },
      {
        file: 'test/protocol/http/inbox-messages.test.ts',
        test: 'of another key or box, or that is gone, or was sent, is not found',
      },
    ],
  },
  {
    name: 'captured-page-runs',
    breaks: 'Captured mail runs nothing and fetches nothing in a browser.',
    edits: [
      {
        file: 'src/ingest/http/mailpit/reading.ts',
        before: "'Content-Security-Policy': \"sandbox; default-src 'none'\",",
        after: "'Content-Security-Policy': \"default-src 'none'\",",
      },
    ],
    traps: [
      { file: 'test/protocol/http/mailpit.test.ts', test: 'cannot run or fetch anything in a browser' },
    ],
  },
];
