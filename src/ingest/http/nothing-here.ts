import { Problem } from '../../http/problem.ts';
import { quote } from '../../http/quote.ts';

/** What `webui.port` answers, and people look for here. */
const ELSEWHERE = new Set(['/', '/health', '/metrics', '/livez', '/readyz']);
/** What is left out of paths. */
const LEFT_OUT = ['/api', '/api/v1'];

/** The refusal of a path that is none of ours; `isKnown` tells those that are. */
export function nothingHere(path: string, isKnown: (path: string) => boolean): Problem {
  return new Problem(404, 'not_found', `There is nothing at this path.${hint(path, isKnown)}`);
}

function hint(path: string, isKnown: (path: string) => boolean): string {
  if (ELSEWHERE.has(path))
    return ' Health, metrics and the status page are on webui.port (8420 unless configured), over HTTPS.';
  const bare = path.replace(/(?<!\/)\/+$/, '');
  const meant = ['', ...LEFT_OUT].map((start) => start + bare).find(isKnown);
  return meant === undefined ? '' : ` Did you mean ${quote(meant)}?`;
}
