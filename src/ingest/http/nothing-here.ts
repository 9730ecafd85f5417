import { whereHealthIs } from '../../http/bad-request.ts';
import { Problem, quote } from '../../http/problem.ts';

/** What `webui.port` answers, and people look for here. */
const ELSEWHERE = new Set(['/', '/health', '/metrics', '/livez', '/readyz']);
/** What is left out of paths. */
const LEFT_OUT = ['/api', '/api/v1'];

/** What there is to know of a path that is none of ours. */
export interface Surroundings {
  /** Whether a path is one of ours. */
  readonly isKnown: (path: string) => boolean;
  /** The port of the dashboard that is bound; null where this server has none. */
  readonly webuiPort: number | null;
}

/** The refusal of a path that is none of ours. */
export function nothingHere(path: string, surroundings: Surroundings): Problem {
  return new Problem(404, 'not_found', `There is nothing at this path.${hint(path, surroundings)}`);
}

/** The refusal of what is on the dashboard's port alone, however it was asked for; null for any other path. */
export function onDashboardOnly(path: string, webuiPort: number | null): Problem | null {
  return path === '/health' || path === '/metrics'
    ? nothingHere(path, { isKnown: () => false, webuiPort })
    : null;
}

function hint(path: string, { isKnown, webuiPort }: Surroundings): string {
  if (ELSEWHERE.has(path)) return ` ${whereHealthIs(webuiPort)}`;
  const bare = path.replace(/(?<!\/)\/+$/, '');
  const meant = ['', ...LEFT_OUT].map((start) => start + bare).find(isKnown);
  return meant === undefined ? '' : ` Did you mean ${quote(meant)}?`;
}
