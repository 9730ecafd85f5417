import { z } from 'zod';
import type { Event, EventType } from '../../../../domain/event.ts';
import type { BounceType } from '../../../../domain/feedback.ts';
import { suppressionKeys } from '../../../../domain/suppressed-address.ts';
import { domainOfFrom, type Suppression, stoppedBy } from '../../../../domain/suppression.ts';
import { Problem } from '../../../../http/problem.ts';
import { formatTimestamp } from '../../../../lib/clock.ts';
import { messageUuid, readMessageId } from '../../../../lib/id.ts';
import type { Call } from '../../call.ts';
import { FILTER_PARAMETERS } from '../../list.ts';
import { asBoolean, NO_PARAMETERS, readParameters } from '../../query.ts';
import { readNoBody } from '../../read-fields.ts';
import { askOfList } from '../../suppressions.ts';
import type { ProviderDeps } from '../provider.ts';
import { ownerFor } from '../reading.ts';
import { PAGE_PARAMETERS, PERIOD_PARAMETERS, partOf, readQuery } from './queries.ts';
import { complained } from './refusals.ts';

/** Bounces as Postmark shows them: events of ours, by their sequence (contract-2 §C3). */

/** What Postmark calls a bounce, or a complaint. */
interface Kind {
  readonly type: string;
  readonly typeCode: number;
  readonly name: string;
  readonly description: string;
}

// biome-ignore format: a table
const KINDS = {
  hard:                { type: 'HardBounce',    typeCode: 1,      name: 'Hard bounce',    description: 'The address does not exist.' },
  soft:                { type: 'SoftBounce',    typeCode: 4096,   name: 'Soft bounce',    description: 'The address could not take mail for the time being.' },
  block:               { type: 'Blocked',       typeCode: 100006, name: 'Blocked',        description: 'The receiver refused the mail because of its content or sender.' },
  provider_suppressed: { type: 'HardBounce',    typeCode: 1,      name: 'Hard bounce',    description: 'The provider did not try, because of its own list.' },
  undetermined:        { type: 'Unknown',       typeCode: 2048,   name: 'Unknown',        description: 'The mail came back, and nothing tells why.' },
  complaint:           { type: 'SpamComplaint', typeCode: 100001, name: 'Spam complaint', description: 'The recipient called the mail spam.' },
} as const satisfies Readonly<Record<BounceType | 'complaint', Kind>>;

const TYPES = [...new Set(Object.values(KINDS).map(({ type }) => type))];

/** Postmark has more types than we know of; mail never comes back for those. */
const typeSchema = z.string().min(1).max(100).optional();

// biome-ignore format: a table
const LIST_PARAMETERS = {
  ...PAGE_PARAMETERS,
  ...PERIOD_PARAMETERS,
  type: { schema: typeSchema, code: 'type', rule: `a type such as ${TYPES.join(', ')}`, meaning: 'Only bounces of this type.', example: 'HardBounce' },
  inactive: { schema: z.boolean().optional(), fromText: asBoolean, code: 'type', rule: 'true or false', meaning: 'Only bounces whose address gets mail no more, or still gets it.', example: 'true' },
  emailfilter: { schema: z.string().max(1000).optional(), code: 'address_syntax', rule: 'a part of an address', meaning: 'Only addresses with this in them.', example: '@example.org' },
  tag: FILTER_PARAMETERS.tag,
  messageid: { schema: z.string().transform((text) => readMessageId(text) ?? '').refine((id) => id !== '').optional(), code: 'message_id', rule: 'the id of a message', meaning: 'Only bounces of this message.', example: '0199c2f0-5c3e-4a11-8a3d-1f2e3d4c5b6a' },
};

/** Events that are read at once. */
const PAGE = 200;
const EVENTS: readonly EventType[] = ['message.failed', 'message.bounced', 'message.complained'];
const ANY = { types: EVENTS, message: null, recipient: null, tag: null, since: null, until: null };

/** Answers with bounces, the newest first. */
export async function listBounces({ exchange, caller }: Call, deps: ProviderDeps): Promise<void> {
  const values = readQuery(exchange.query, LIST_PARAMETERS);
  const query = {
    ...ANY,
    owner: ownerFor(caller.key),
    message: values.messageid ?? null,
    tag: values.tag ?? null,
    since: values.fromdate ?? null,
    until: values.todate ?? null,
  };
  const { type, inactive, emailfilter = '' } = values;
  const { items, total } = await partOf(values, async (before: number | null) => {
    const { events, next } = await deps.views.events({ ...query, from: { before }, limit: PAGE });
    const bounces = await bouncesOf(events, deps);
    const wanted = bounces.filter(
      (bounce) =>
        (type ?? bounce.Type) === bounce.Type &&
        (inactive ?? bounce.Inactive) === bounce.Inactive &&
        bounce.Email.toLowerCase().includes(emailfilter.toLowerCase()),
    );
    return { items: wanted, next, isCut: next !== null && events.length < PAGE };
  });
  exchange.json(200, { TotalCount: total, Bounces: items });
}

/** Answers with one bounce. */
export async function showBounce(call: Call, deps: ProviderDeps): Promise<void> {
  readParameters(call.exchange.query, NO_PARAMETERS);
  call.exchange.json(200, await findBounce(call, deps));
}

/** Takes the address of a bounce off the suppression list. */
export async function activateBounce(call: Call, deps: ProviderDeps): Promise<void> {
  const { exchange, caller } = call;
  await readNoBody(exchange, deps.budget.share(caller.key.id));
  const bounce = await findBounce(call, deps);
  if (bounce.Inactive) {
    if (!bounce.CanActivate) throw complained(bounce.Email);
    await call.checkKey();
    await askOfList('removeSuppressions', call, deps, { which: bounce.Email });
  }
  exchange.json(200, { Message: 'OK', Bounce: await findBounce(call, deps) });
}

/** Pages of events that are counted at most, from the newest on: for each, some thousands may be examined. */
const MAX_COUNTED_PAGES = 40;

/** Answers with how many bounces of each type there are, and how many of their addresses get mail no more. */
export async function showStatistics({ exchange, caller }: Call, deps: ProviderDeps): Promise<void> {
  readParameters(exchange.query, NO_PARAMETERS);
  const query = { ...ANY, owner: ownerFor(caller.key), limit: PAGE };
  const counts = new Map<string, number>();
  const inactive = new Set<string>();
  let before: number | null = null;
  for (let pages = 0; pages < MAX_COUNTED_PAGES; pages++) {
    const { events, next } = await deps.views.events({ ...query, from: { before } });
    for (const { Type, Inactive, Email } of await bouncesOf(events, deps)) {
      counts.set(Type, (counts.get(Type) ?? 0) + 1);
      if (Inactive) inactive.add(Email.toLowerCase());
    }
    before = next;
    if (before === null) break;
  }
  const names = new Map(Object.values(KINDS).map(({ type, name }) => [type as string, name]));
  const all = [...counts.values()].reduce((sum, count) => sum + count, 0);
  exchange.json(200, {
    InactiveMails: inactive.size,
    Bounces: [
      { Name: 'All', Count: all },
      ...[...counts].map(([Type, Count]) => ({ Name: names.get(Type), Count, Type })),
    ],
  });
}

async function findBounce({ caller, params }: Call, deps: ProviderDeps): Promise<Bounce> {
  const text = params['id'] ?? '';
  const sequence = /^\d{1,15}$/.test(text) ? Number(text) : 0;
  const place = { from: { after: Math.max(sequence - 1, 0) }, limit: 1 };
  const { events } = await deps.views.events({ ...ANY, owner: ownerFor(caller.key), ...place });
  const [bounce] = await bouncesOf(
    events.filter((event) => event.sequence === sequence),
    deps,
  );
  if (bounce === undefined) throw new Problem(404, 'bounce_not_found', 'There is no such bounce.');
  return bounce;
}

type Bounce = Awaited<ReturnType<typeof bouncesOf>>[number];

/** The bounces among some events; with one look at the suppression list. */
async function bouncesOf(
  events: readonly Event[],
  { suppressions, clock }: Pick<ProviderDeps, 'suppressions' | 'clock'>,
) {
  const bounced = events.flatMap((event) => {
    const kind = event.type === 'message.complained' ? 'complaint' : event.facts.bounce;
    const { recipient, message } = event;
    if (kind === undefined || recipient === null || message === null) return [];
    return [{ event, kind: KINDS[kind], recipient, message, keys: suppressionKeys(recipient.address) }];
  });
  const found = await suppressions.suppressionsUnder([...new Set(bounced.flatMap(({ keys }) => keys))]);
  const under = Map.groupBy(found, ({ address }) => address);
  const now = clock.wall();
  return bounced.map(({ event, kind, recipient, message, keys }) => {
    const entries: readonly Suppression[] = keys.flatMap((form) => under.get(form) ?? []);
    const { keyId, from, stream } = message;
    const asking = { keyId, fromDomain: domainOfFrom(from), stream, test: false, ignores: false };
    const entry = stoppedBy(entries, asking, now);
    return {
      RecordType: 'Bounce',
      ID: event.sequence,
      Type: kind.type,
      TypeCode: kind.typeCode,
      Name: kind.name,
      Tag: message.tags[0] ?? '',
      MessageID: messageUuid(message.id),
      ServerID: 0,
      Description: kind.description,
      Details: event.facts.text ?? '',
      Email: recipient.address,
      From: from,
      BouncedAt: formatTimestamp(event.facts.happenedAt ?? event.at),
      DumpAvailable: false,
      Inactive: entry !== null,
      CanActivate: entry !== null && entry.reason !== 'complaint',
      Subject: message.subject,
      MessageStream: 'outbound',
    };
  });
}
