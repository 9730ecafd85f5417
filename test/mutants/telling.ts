// biome-ignore-all lint/suspicious/noTemplateCurlyInString: edits quote the source.
/** Bugs by which applications would be told wrongly, or not at all; and by which we would believe any provider's hook. */
import type { Mutant, Trap } from './mutant.ts';
import { sqlite } from './traps.ts';

export const TELLING: readonly Mutant[] = [
  {
    name: 'event-skipped-at-a-page-end',
    breaks: 'An endpoint is told of every event: here of none that begins a page of the log.',
    edits: [
      {
        file: 'src/engine/webhooks.ts',
        before: 'more = (await webhooks.fanOut(cursor, next, deliveries, clock.wall())) && page.more;',
        after:
          'more = (await webhooks.fanOut(cursor, next + (page.more ? 1 : 0), deliveries, clock.wall())) && page.more;',
      },
    ],
    traps: [room('is told of every event, however many pages of the log there are')],
  },
  {
    name: 'events-fanned-out-twice',
    breaks: 'An event becomes one delivery, whichever node is faster.',
    edits: [
      {
        file: 'src/store/plain/webhooks.ts',
        before: 'SET seq = ${to} WHERE seq = ${from}`;',
        after: 'SET seq = ${to} WHERE seq >= 0 AND ${from} >= 0`;',
      },
    ],
    traps: [sqlite('webhooks > are fanned out once, whoever does it first')],
  },
  {
    name: 'told-again-after-a-2xx',
    breaks: 'What an endpoint has taken is not posted again.',
    edits: [
      {
        file: 'src/engine/webhooks.ts',
        before: 'const next = isDone || event === null ? null : nextTryAt(',
        after: 'const next = event === null ? null : nextTryAt(',
      },
    ],
    traps: [room('is told once of each event that it asks for')],
  },
  {
    name: 'older-try-hurries-the-newer',
    breaks:
      'Of two tries of an event at the same time, the newer has the schedule: here the one that ends last.',
    edits: [
      {
        file: 'src/store/plain/webhooks.ts',
        before: "state !== 'delivered' && row.attempts !== attempts;",
        after: 'false;',
      },
    ],
    traps: [
      sqlite('webhooks > keep the schedule of the newer'),
      {
        file: 'test/simulation/webhooks.test.ts',
        test: 'keeps every law',
        environment: { WAYBILL_SEEDS: '30-30' },
      },
    ],
  },
  {
    name: 'redirect-taken-for-a-2xx',
    breaks: 'Only a 2xx says that an endpoint has the event: here a redirect does, which is never followed.',
    edits: [
      {
        file: 'src/domain/webhook.ts',
        before: 'status >= 200 && status < 300;',
        after: 'status >= 200 && status < 400;',
      },
    ],
    traps: [room('is made again where the answer is not 2xx')],
  },
  {
    name: 'event-of-others-told',
    breaks: 'An endpoint of a key is told of the mail of that key alone.',
    edits: [
      {
        file: 'src/domain/webhook.ts',
        before: '  if (keyId !== null && keyOfEvent(event) !== keyId) return false;\n',
        after: '',
      },
    ],
    traps: [room('is told of the events of its key alone')],
  },
  {
    name: 'told-after-the-key-ended',
    breaks: 'An endpoint whose key is revoked is told of nothing.',
    edits: [
      {
        file: 'src/domain/webhook.ts',
        before: "health.state !== 'disabled' && (keyEndsAt === null || now < keyEndsAt);",
        after: "health.state !== 'disabled' && keyEndsAt !== now;",
      },
    ],
    traps: [room('is told of nothing once its key is revoked')],
  },
  {
    name: 'endpoint-never-disabled',
    breaks: 'An endpoint that takes nothing for five days is disabled.',
    edits: [
      {
        file: 'src/domain/webhook.ts',
        before: 'const failingSince = health.failingSince ?? one.at;',
        after: 'const failingSince = one.at;',
      },
    ],
    traps: [room('is disabled after five days')],
  },
  {
    name: 'disabled-endpoint-comes-back',
    breaks: 'What was under way when an endpoint was disabled does not enable it.',
    edits: [
      {
        file: 'src/domain/webhook.ts',
        before: "  if (health.state === 'disabled') return health;\n",
        after: '',
      },
      {
        file: 'src/store/plain/webhooks.ts',
        before: "      if (wasDisabled && health.state === 'failing') return true;\n",
        after: '',
      },
    ],
    traps: [room('what was under way when an endpoint was disabled does not enable it')],
  },
  {
    name: 'healthy-waits-for-the-dead',
    breaks: 'An endpoint that does not answer holds up no other: here all share four requests at once.',
    edits: [
      {
        file: 'src/engine/webhooks.ts',
        before:
          'const underWay = this.#underWay.get(id) ?? new Set<number>();\n    this.#underWay.set(id, underWay);',
        after:
          "const underWay = this.#underWay.get('') ?? new Set<number>();\n    this.#underWay.set('', underWay);",
      },
    ],
    traps: [room('that is slow or dead costs the others nothing')],
  },
  {
    name: 'webhook-signed-over-other-bytes',
    breaks: 'The signature is over id, time and all bytes of the body: here a repeat may have another time.',
    edits: [
      {
        file: 'src/transport/providers/webhook-post.ts',
        before: '.update(`${id}.${seconds}.`).update(body);',
        after: '.update(`${id}.0.`).update(body);',
      },
    ],
    traps: [
      {
        file: 'test/protocol/providers/webhooks-signed.test.ts',
        test: 'the published example of Standard Webhooks has its published signature',
      },
      { file: 'src/alerts/telling.test.ts', test: 'a webhook is signed by Standard Webhooks' },
    ],
  },
  {
    name: 'webhook-signed-with-the-first-secret',
    breaks: 'While a secret is replaced, posts are signed with both.',
    edits: [
      {
        file: 'src/transport/providers/webhook-post.ts',
        before: "secrets.map((secret) => signature(secret, id, seconds, body)).join(' ')",
        after: "secrets.slice(0, 1).map((secret) => signature(secret, id, seconds, body)).join(' ')",
      },
    ],
    traps: [
      {
        file: 'test/protocol/providers/webhooks-signed.test.ts',
        test: 'it is verified with either secret while two are in force',
      },
    ],
  },
  {
    name: 'private-address-called',
    breaks: 'No URL that others chose leads into our own network.',
    edits: [
      {
        file: 'src/transport/providers/dial.ts',
        before: 'allowPrivate ? addresses : addresses.filter(({ address }) => isPublicAddress(address));',
        after: 'addresses;',
      },
    ],
    traps: [
      {
        file: 'test/protocol/providers/guard.test.ts',
        test: 'nor is a name that means the loopback, whatever port',
      },
      {
        file: 'test/protocol/providers/webhooks-out.test.ts',
        test: 'private addresses and plain HTTP are not reached',
      },
    ],
  },
  {
    name: 'private-address-in-a-mapped-form',
    breaks: 'A private address is one in every form: here not where IPv6 has an IPv4 address in it.',
    edits: [
      {
        file: 'src/lib/network.ts',
        before:
          '  const plain = normaliseAddress(address);\n  const family = isIP(plain);\n  if (family === 0 || (family === 6 && !given.contains(plain)))',
        after:
          "  const plain = normaliseAddress(address);\n  if (address.startsWith('::ffff:')) return true;\n  const family = isIP(plain);\n  if (family === 0 || (family === 6 && !given.contains(plain)))",
      },
    ],
    traps: [
      {
        file: 'test/protocol/providers/guard.test.ts',
        test: 'https://[::ffff:127.0.0.1] is not connected to',
      },
    ],
  },
  {
    name: 'forged-hook-believed',
    breaks: 'Only a provider tells what became of its mail: here any signature will do.',
    edits: [
      {
        file: 'src/ingest/hooks/resend.ts',
        before: 'given.some((one) => isSame(one, expected))',
        after: 'given.some((one) => one.length === expected.length)',
      },
      {
        file: 'src/ingest/hooks/sendgrid.ts',
        before: "return verify('sha256', signed, key, signature) ?",
        after: 'return signed.length > 0 ?',
      },
    ],
    traps: [
      { file: 'src/ingest/hooks/proof.test.ts', test: 'no changed byte of the body passes' },
      { file: 'test/protocol/http/hooks.test.ts', test: 'resend with another secret gets 401' },
    ],
  },
  {
    name: 'old-hook-replayed',
    breaks: 'What was signed long ago is nothing new: here any age will do.',
    edits: [
      {
        file: 'src/ingest/hooks/proof.ts',
        before: 'return at !== null && now - at <= maxAgeMs && at - now <= SKEW_MS;',
        after: 'return at !== null && maxAgeMs > 0 && at - now <= SKEW_MS;',
      },
    ],
    traps: [
      { file: 'src/ingest/hooks/proof.test.ts', test: 'a timestamp may be so old, or five minutes ahead' },
      { file: 'src/ingest/hooks/sns.test.ts', test: 'a message may be an hour and five minutes old' },
    ],
  },
  {
    name: 'certificate-from-anywhere',
    breaks: 'What signs for Amazon is fetched from Amazon: here from whoever has a name that begins so.',
    edits: [
      {
        file: 'src/ingest/hooks/sns.ts',
        before: '\\.amazonaws\\.com(?:\\.cn)?$/;',
        after: '\\.amazonaws\\.com(?:\\.cn)?/;',
      },
    ],
    traps: [{ file: 'src/ingest/hooks/sns.test.ts', test: 'nothing is fetched from' }],
  },
  {
    name: 'hook-without-its-token',
    breaks: 'A hook needs the token in its path.',
    edits: [
      {
        file: 'src/ingest/http/hook.ts',
        before: 'return counting.filter((one) => isSame(token, one)).length > 0;',
        after: 'return counting.filter((one) => one.length === token.length).length > 0;',
      },
    ],
    traps: [{ file: 'test/protocol/http/hooks.test.ts', test: 'another token is 404 without a body' }],
  },
  {
    name: 'hook-answered-before-it-is-durable',
    breaks: 'A provider repeats until we have what it tells: here it is answered before that is on disk.',
    edits: [
      {
        file: 'src/ingest/http/hook.ts',
        before: '  await take(reading.events, request, relay, deps);\n',
        after: '  take(reading.events, request, relay, deps).catch(() => {});\n',
      },
    ],
    traps: [
      { file: 'test/protocol/http/hooks.test.ts', test: 'the answer waits until what was told is durable' },
      { file: 'test/protocol/http/hooks.test.ts', test: 'what the store does not take is to be repeated' },
    ],
  },
  {
    name: 'provider-speaks-for-another',
    breaks: 'The id that one relay gave means no mail of another relay.',
    edits: [
      {
        file: 'src/store/plain/mail.ts',
        before:
          "const relay = feedback.source.startsWith('webhook:') ? feedback.source.slice('webhook:'.length) : null;",
        after: 'const relay = null;',
      },
    ],
    traps: [sqlite('tell > find the message > by what a relay calls it')],
  },
  {
    name: 'hook-taken-for-another-recipient',
    breaks:
      'Who was retried since has another id: what is told of him by the former is not told of who still has it.',
    edits: [
      {
        file: 'src/store/plain/mail.ts',
        before: 'recipient: isOther ? null : recipientIn(recipients, null, feedback) };',
        after: 'recipient: isOther && false ? null : recipientIn(recipients, null, feedback) };',
      },
    ],
    traps: [sqlite('tell > find the message > by what a relay calls it')],
  },
  {
    name: 'told-after-another-try-forbade-it',
    breaks: 'Who is found gone, or failing, gets no try that was about to begin.',
    edits: [
      {
        file: 'src/engine/webhooks.ts',
        before: 'return this.#known.get(id)?.state === health.state;',
        after: 'return this.#known.has(id) && health.state.length > 0;',
      },
    ],
    traps: [room('what was about to be told when an endpoint was disabled is not told')],
  },
];

function room(test: string): Trap {
  return { file: 'src/engine/webhooks.test.ts', test };
}
