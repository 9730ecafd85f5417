import type { LaneState } from '../domain/lane.ts';
import type { Destination, DestinationPlace } from '../operations/destination.ts';
import type { QueueLane, QueueView } from '../operations/queue.ts';
import { clip } from './fitting.ts';
import { oneLine, table } from './terminal.ts';

/** The queue as text for people. */

const HEADINGS = ['LANE', 'STATE', 'WAITING', 'LEASED', 'SENDING', 'OLDEST', '/MIN', 'LAST REPLY'];
/** Most characters of a lane's name where lines must fit a terminal. */
const MAX_LANE = 28;

/** The lanes under each other, the sum of all below; lines end at `columns`, where that is not null. */
export function queueText(view: QueueView, columns: number | null): string {
  const { lanes, totals } = view;
  const now = Date.parse(view.time);
  const name = (lane: string) => (columns === null ? lane : clip(lane, MAX_LANE));
  const rows = lanes.map((lane) => [
    name(lane.lane),
    stateText(lane, now),
    ...numbers(lane),
    replyText(lane),
  ]);
  const lines = table(HEADINGS, [...rows, ['total', '', ...numbers(totals), '']]).split('\n');
  const fitting = columns === null ? lines : lines.map((line) => clip(line, columns));
  return [...fitting, ...notes(view)].join('\n');
}

/** Attempts under way, of as many as there may be. */
function numbers(row: QueueView['totals'] & Partial<Pick<QueueLane, 'concurrency'>>): string[] {
  const { waiting, processing, inFlight, oldestSeconds, perMinute, concurrency = null } = row;
  const oldest = oldestSeconds === null ? '' : ageText(oldestSeconds);
  return [
    String(waiting),
    String(processing),
    concurrency === null ? String(inFlight) : `${inFlight}/${concurrency}`,
    oldest,
    String(perMinute),
  ];
}

/** A state as people read it. */
export function laneStateText(state: LaneState): string {
  return state === 'untried' ? 'not tried yet' : state;
}

function stateText({ state, restsUntil }: QueueLane, now: number): string {
  if (restsUntil === null) return laneStateText(state);
  return `${state} ${ageText(Math.max(0, Math.ceil((Date.parse(restsUntil) - now) / 1000)))}`;
}

function replyText({ lastReply }: QueueLane): string {
  if (lastReply === null) return '';
  const { code, reply } = lastReply;
  return oneLine(code === null || reply.startsWith(String(code)) ? reply : `${code} ${reply}`);
}

function notes({ withoutRoute, more }: QueueView): string[] {
  const { waiting } = withoutRoute;
  const count = withoutRoute.more ? `more than ${waiting}` : String(waiting);
  return [
    ...(more ? ['There are more lanes; --relay shows those of one relay.'] : []),
    ...(waiting > 0
      ? [`Recipients without a route, because there is no relay for them: ${count}. See: waybill routes list`]
      : []),
  ];
}

/** Why mail to a domain is late: a paragraph for each place where it waits. */
export function destinationText({ domain, places, messages, more }: Destination): string {
  const told = places.map(placeText);
  const rest = more ? [`Only the newest messages were looked at, of which ${messages} wait.`] : [];
  return [...(told.length === 0 ? [`Nothing waits for ${domain}.`] : told), ...rest].join('\n');
}

function placeText({
  lane,
  state,
  waiting,
  processing,
  rest,
  waits,
  nextAt,
  since,
  replies,
}: DestinationPlace): string {
  const head = lane === null || state === null ? 'without a route' : `${lane} (${laneStateText(state)})`;
  const reply = rest?.reply;
  return [
    `${head}: ${waiting} waiting, ${processing} under way`,
    ...(reply ? [`  rests for: ${oneLine(`${reply.code ?? rest?.cause ?? ''} ${reply.reply}`)}`] : []),
    ...waits.map(({ what, until, command }) =>
      [`  ${what}`, until === null ? '' : ` until ${until}`, command === null ? '' : `: ${command}`].join(''),
    ),
    ...(nextAt === null ? [] : [`  next try: ${nextAt}`]),
    ...(since === null ? [] : [`  oldest accepted: ${since}`]),
    ...replies.map(
      ({ recipients, code, reply: said, messageId }) =>
        `  ${recipients} × ${oneLine(`${code ?? ''} ${said}`.trim())} (${messageId})`,
    ),
  ].join('\n');
}

/** Units of a duration, the longest first. */
const UNITS = [
  ['d', 86_400],
  ['h', 3_600],
  ['m', 60],
] as const;

/** Seconds in the largest unit that is full: `0s`, `59s`, `3m`, `2h`, `7d`. */
function ageText(seconds: number): string {
  for (const [unit, size] of UNITS) if (seconds >= size) return `${Math.floor(seconds / size)}${unit}`;
  return `${Math.floor(seconds)}s`;
}
