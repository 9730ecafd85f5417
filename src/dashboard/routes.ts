import type { Actor } from '../control/door.ts';
import type { Exchange } from '../http/exchange.ts';
import { Problem } from '../http/problem.ts';
import { type Match, Router, targetOf } from '../http/router.ts';
import type { Health } from '../observe/health.ts';
import { EXPOSITION_TYPE } from '../observe/metric-table.ts';
import type { Metrics } from '../observe/metrics.ts';
import { answerCall, type CallDeps, requireJson, signedOut } from './calls.ts';
import { DOWNLOADS, type DownloadDeps, sendDocument } from './downloads.ts';
import { answerDraftFrame } from './draft-frame.ts';
import type { EventStreams } from './event-streams.ts';
import {
  type GuardSettings,
  harden,
  refuseForeignFetch,
  requireOwnHost,
  requireOwnOrigin,
  requireSource,
} from './guard.ts';
import { type SharedStories, STORY_DOCUMENT } from './shared-stories.ts';
import type { Site } from './site.ts';
import { asProblems, type Visitors } from './visitors.ts';

/** What the answers need. */
export interface DashboardContent extends CallDeps, DownloadDeps {
  readonly health: Pick<Health, 'report'>;
  readonly metrics: Metrics;
  /** Whether mail is accepted now; false as soon as the service is told to stop. */
  readonly ready: () => boolean;
  readonly visitors: Visitors;
  /** What links show of messages. */
  readonly stories: SharedStories;
  /** The built page. */
  readonly site: Site;
  readonly streams: EventStreams;
  /** Plain HTTP is served, not led to TLS: only where nobody else can hear it. */
  readonly servesPlain: boolean;
}

/** A request for a path. */
export interface Visit {
  readonly exchange: Exchange;
  readonly content: DashboardContent;
  /** Named segments of the path. */
  readonly params: Readonly<Record<string, string>>;
}

/** Who may use a path. */
export type Target =
  /** Monitors, under any host name (contract §1). */
  | { readonly for: 'monitors'; readonly answer: (visit: Visit) => Promise<void> | void }
  /** Anybody, under a host name of ours. */
  | { readonly for: 'anyone'; readonly answer: (visit: Visit) => Promise<void> | void }
  /** The signed-in user. */
  | { readonly for: 'users'; readonly answer: (visit: Visit, actor: Actor) => Promise<void> | void };

const ROUTER = new Router<Target>([
  { method: 'GET', path: '/health', target: { for: 'monitors', answer: answerHealth } },
  { method: 'GET', path: '/metrics', target: { for: 'monitors', answer: answerMetrics } },
  {
    method: 'GET',
    path: '/livez',
    target: { for: 'monitors', answer: ({ exchange }) => exchange.text(200, 'alive\n') },
  },
  { method: 'GET', path: '/readyz', target: { for: 'monitors', answer: answerReady } },
  {
    method: 'GET',
    path: '/api/session',
    target: { for: 'anyone', answer: ({ exchange, content }) => content.visitors.show(exchange) },
  },
  {
    method: 'POST',
    path: '/api/session/{name}',
    target: {
      for: 'anyone',
      answer: ({ exchange, content, params }) => content.visitors.answer(exchange, params['name'] ?? ''),
    },
  },
  {
    method: 'POST',
    path: '/api/call/{operation}',
    target: {
      for: 'users',
      answer: ({ exchange, content, params }, actor) =>
        answerCall(exchange, actor, params['operation'] ?? '', content),
    },
  },
  {
    method: 'GET',
    path: '/api/events',
    target: {
      for: 'users',
      answer: ({ exchange, content }, actor) => content.streams.answer(exchange, actor),
    },
  },
  {
    method: 'GET',
    path: '/preview/draft',
    target: { for: 'users', answer: ({ exchange }) => answerDraftFrame(exchange) },
  },
  { method: 'GET', path: STORY_DOCUMENT, target: { for: 'anyone', answer: answerStoryDocument } },
  ...DOWNLOADS.map(({ path, answer }) => ({
    method: 'GET' as const,
    path,
    target: { for: 'users' as const, answer },
  })),
]);

/** Answered for every source: an orchestrator that is shut out would end the process. It learns one word. */
const PROBES: ReadonlySet<string> = new Set(['/livez', '/readyz']);

/** Answers one request, or throws the problem that refuses it: source, path, method, host, origin, session, type. */
export async function answerRequest(
  exchange: Exchange,
  settings: GuardSettings,
  content: DashboardContent,
): Promise<void> {
  harden(exchange);
  // Monitors' paths included: elsewhere the allowed sources shut out whoever has no business with them.
  if (settings.loopbackOnly) requireOwnHost(exchange, settings);
  if (!PROBES.has(exchange.path)) requireSource(exchange, settings);
  const match = ROUTER.match(exchange.path);
  if (!exchange.secure && !content.servesPlain) redirectToTls(exchange, settings);
  else if (match === null) await answerPage(exchange, settings, content);
  else if (exchange.method === 'OPTIONS') exchange.empty(204, { Allow: match.allow });
  else await answerMatch(exchange, settings, content, match);
}

async function answerMatch(
  exchange: Exchange,
  settings: GuardSettings,
  content: DashboardContent,
  match: Match<Target>,
): Promise<void> {
  exchange.setHeader('Cache-Control', 'no-store');
  const target = targetOf(match, exchange.method);
  const visit = { exchange, content, params: match.params };
  if (target.for === 'monitors') return await target.answer(visit);
  const host = requireOwnHost(exchange, settings);
  if (exchange.method === 'POST') requireOwnOrigin(exchange, host);
  else refuseForeignFetch(exchange);
  if (target.for === 'anyone') {
    if (exchange.method === 'POST') requireJson(exchange);
    return await target.answer(visit);
  }
  const actor = await content.visitors.actorOf(exchange);
  if (actor === null) throw signedOut();
  await target.answer(visit, actor);
}

/** Every other path is the page's own, or one of its files. */
async function answerPage(
  exchange: Exchange,
  settings: GuardSettings,
  { site }: DashboardContent,
): Promise<void> {
  const allow = 'GET, HEAD, OPTIONS';
  if (exchange.method === 'OPTIONS') return exchange.empty(204, { Allow: allow });
  if (exchange.method !== 'GET' && exchange.method !== 'HEAD')
    throw new Problem(405, 'method_not_allowed', `This takes ${allow}.`, { headers: { Allow: allow } });
  requireOwnHost(exchange, settings);
  await site.answer(exchange);
}

function redirectToTls(exchange: Exchange, settings: GuardSettings): void {
  exchange.setHeader('Cache-Control', 'no-store');
  const host = requireOwnHost(exchange, settings);
  const query = exchange.search === '' ? '' : `?${exchange.search}`;
  exchange.empty(308, { Location: `https://${host}${exchange.path}${query}` });
}

/** The HTML of a message whose story is shown by a link, as inert as in the dashboard, and never with remote pictures. */
async function answerStoryDocument({ exchange, content }: Visit): Promise<void> {
  const { query } = exchange;
  const visit = content.visitors.visitOf(exchange);
  const isDark = query.get('scheme') === 'dark';
  const document = await asProblems(content.stories.document(query.get('ticket') ?? '', isDark, visit));
  sendDocument(exchange, document);
}

function answerHealth({ exchange, content }: Visit): void {
  const report = content.health.report();
  exchange.json(report.status === 'critical' ? 503 : 200, report);
}

function answerMetrics({ exchange, content }: Visit): void {
  exchange.send(200, EXPOSITION_TYPE, content.metrics.render());
}

function answerReady({ exchange, content }: Visit): void {
  if (content.ready()) exchange.text(200, 'ready\n');
  else exchange.text(503, 'not ready\n');
}
