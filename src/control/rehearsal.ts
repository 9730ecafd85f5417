import type { MessageRecord } from '../domain/message.ts';
import { messageDice, type RouteDecision, type RoutingTable, route } from '../domain/route.ts';
import type { RouteFacts } from '../domain/route-match.ts';
import type { LocalDeps } from './local-deps.ts';
import type { RehearsalView, RehearsedExample } from './route-operations.ts';

/** Plays the mail that was stored last through a changed table. */

const PAGE = 200;
/** Of each move, so many are told. */
const EXAMPLES = 3;

/** What was found so far. */
interface Tally {
  messages: number;
  recipients: number;
  unchanged: number;
  otherFallback: number;
  readonly moves: Map<string, Move>;
}

interface Move {
  readonly from: string;
  readonly to: string;
  recipients: number;
  readonly examples: RehearsedExample[];
}

/**
 * What `next` would do with each recipient of the last messages, beside what `table` does: with the same dice, at the time
 * when each was to be sent. How relays are at this moment plays no part.
 */
export async function rehearse(
  { table, next }: { readonly table: RoutingTable; readonly next: RoutingTable },
  last: number,
  { views, keyring }: Pick<LocalDeps, 'views' | 'keyring'>,
): Promise<RehearsalView> {
  const names = new Map((await keyring.list()).map(({ id, name }) => [id, name]));
  const tally: Tally = { messages: 0, recipients: 0, unchanged: 0, otherFallback: 0, moves: new Map() };
  let before: string | null = null;
  do {
    const limit = Math.min(PAGE, last - tally.messages);
    const page = await views.list({ owner: 'all', statuses: [], before, limit });
    for (const message of page.messages) compare(message, names, { table, next }, tally);
    before = page.next;
  } while (before !== null && tally.messages < last);
  const { moves, ...counts } = tally;
  return {
    ...counts,
    moves: [...moves.values()].sort((a, b) => b.recipients - a.recipients),
    blindRules: next.rules.filter(({ match }) => match.sourceCidr !== undefined).map(({ name }) => name),
  };
}

function compare(
  message: MessageRecord,
  keyNames: ReadonlyMap<string, string>,
  { table, next }: { readonly table: RoutingTable; readonly next: RoutingTable },
  tally: Tally,
): void {
  const dice = messageDice(message.id);
  const { id, keyId, to, cc, bcc } = message;
  const keyName = keyId === null ? null : (keyNames.get(keyId) ?? null);
  tally.messages++;
  for (const recipient of [...to, ...cc, ...bcc]) {
    const facts = factsOf(message, recipient, keyName);
    count({ id, recipient }, route(facts, table, dice), route(facts, next, dice), tally);
  }
}

function count(
  place: Pick<RehearsedExample, 'id' | 'recipient'>,
  now: RouteDecision,
  then: RouteDecision,
  tally: Tally,
): void {
  const [from = ''] = now.group;
  const [to = ''] = then.group;
  tally.recipients++;
  if (from === to) {
    if (now.group.join() === then.group.join()) tally.unchanged++;
    else tally.otherFallback++;
    return;
  }
  const key = `${from} ${to}`;
  const move = tally.moves.get(key) ?? { from, to, recipients: 0, examples: [] };
  tally.moves.set(key, move);
  move.recipients++;
  if (move.examples.length < EXAMPLES) move.examples.push({ ...place, rule: now.rule, newRule: then.rule });
}

/** Where it came from is not kept with what is listed. */
function factsOf(message: MessageRecord, recipient: string, keyName: string | null): RouteFacts {
  const { envelopeFrom, tags, keyId, sizeBytes, test, createdAt, sendAt } = message;
  return {
    recipient,
    reversePath: envelopeFrom,
    ...{ tags, keyId, keyName, sizeBytes, test },
    sourceAddress: null,
    now: Math.max(createdAt, sendAt ?? 0),
  };
}
