import type { Exchange } from '../http/exchange.ts';
import { Problem } from '../http/problem.ts';
import { Router, targetOf } from '../http/router.ts';
import { EXPOSITION_TYPE } from '../observe/exposition.ts';
import type { Health } from '../observe/health.ts';
import type { Metrics } from '../observe/metrics.ts';
import { type GuardSettings, requireOwnHost, requireSource } from './guard.ts';
import { PAGE_POLICY, renderPage } from './page.ts';

/** What the answers are made of. */
export interface DashboardContent {
  readonly health: Pick<Health, 'report'>;
  readonly metrics: Metrics;
  /** Whether mail is accepted now; false from the moment the service is told to stop. */
  readonly ready: () => boolean;
}

/** A path's answer. */
interface Page {
  readonly answer: (exchange: Exchange, content: DashboardContent) => void;
  /** Answers to any host name: monitors ask by whatever name they know us (contract §1). */
  readonly anyHost: boolean;
}

const ROUTER = new Router<Page>([
  { method: 'GET', path: '/', target: { answer: answerPage, anyHost: false } },
  { method: 'GET', path: '/health', target: { answer: answerHealth, anyHost: true } },
  { method: 'GET', path: '/metrics', target: { answer: answerMetrics, anyHost: true } },
  {
    method: 'GET',
    path: '/livez',
    target: { answer: (exchange) => exchange.text(200, 'alive\n'), anyHost: false },
  },
  { method: 'GET', path: '/readyz', target: { answer: answerReady, anyHost: false } },
]);

/** Answers one request, or throws the problem that refuses it. */
export function answerRequest(exchange: Exchange, settings: GuardSettings, content: DashboardContent): void {
  exchange.setHeader('Cache-Control', 'no-store');
  exchange.setHeader('X-Content-Type-Options', 'nosniff');
  if (!exchange.secure) {
    redirectToTls(exchange, settings);
    return;
  }
  const match = ROUTER.match(exchange.path);
  if (match === null) throw new Problem(404, 'not_found', 'There is nothing here.');
  requireSource(exchange, settings);
  if (exchange.method === 'OPTIONS') {
    exchange.empty(204, { Allow: match.allow });
    return;
  }
  const page = targetOf(match, exchange.method);
  if (!page.anyHost) requireOwnHost(exchange, settings);
  page.answer(exchange, content);
}

function redirectToTls(exchange: Exchange, settings: GuardSettings): void {
  requireSource(exchange, settings);
  const host = requireOwnHost(exchange, settings);
  const query = exchange.search === '' ? '' : `?${exchange.search}`;
  exchange.empty(308, { Location: `https://${host}${exchange.path}${query}` });
}

function answerHealth(exchange: Exchange, { health }: DashboardContent): void {
  const report = health.report();
  exchange.json(report.status === 'critical' ? 503 : 200, report);
}

function answerMetrics(exchange: Exchange, { metrics }: DashboardContent): void {
  exchange.send(200, EXPOSITION_TYPE, metrics.render());
}

function answerReady(exchange: Exchange, { ready }: DashboardContent): void {
  if (ready()) exchange.text(200, 'ready\n');
  else exchange.text(503, 'not ready\n');
}

function answerPage(exchange: Exchange, { health }: DashboardContent): void {
  exchange.send(200, 'text/html; charset=utf-8', renderPage(health.report()), {
    'Content-Security-Policy': PAGE_POLICY,
    'Referrer-Policy': 'no-referrer',
  });
}
