import type { ProviderName } from '../../../domain/drop-in.ts';
import type { Exchange } from '../../../http/exchange.ts';
import type { Problem } from '../../../http/problem.ts';
import type { Route } from '../../../http/router.ts';
import { answerAsMailgun } from '../mailgun.ts';
import type { Provider, ProviderEndpoint } from './provider.ts';
import { RESEND } from './resend/resend.ts';

/** Every provider's API, and whose a path is. */

const PROVIDERS: Readonly<Record<ProviderName, Provider>> = { resend: RESEND };

/** The calls of these providers, at the root and below the provider's name. */
export function providerRoutes(names: readonly ProviderName[]): Route<ProviderEndpoint>[] {
  return names.flatMap((name) =>
    PROVIDERS[name].endpoints.flatMap((endpoint) =>
      [endpoint.path, `/${name}${endpoint.path}`].map((path) => ({
        method: endpoint.method,
        path,
        target: endpoint,
      })),
    ),
  );
}

/** How refusals at a path are answered that belongs to a provider's API; null: it is ours. */
export function refusalAt(
  path: string,
  enabled: readonly ProviderName[],
): ((exchange: Exchange, problem: Problem) => void) | null {
  const [first = '', second] = path.slice(1).split('/', 2);
  if (first === 'v3' && second !== undefined) return answerAsMailgun;
  const name = enabled.find((one) => first === one || firstSegments(one).has(first));
  return name === undefined ? null : PROVIDERS[name].refuse;
}

function firstSegments(name: ProviderName): ReadonlySet<string> {
  return FIRST_SEGMENTS[name];
}

const FIRST_SEGMENTS: Readonly<Record<ProviderName, ReadonlySet<string>>> = {
  resend: firstsOf(RESEND),
};

function firstsOf({ endpoints }: Provider): ReadonlySet<string> {
  return new Set(endpoints.map(({ path }) => path.split('/')[1] ?? ''));
}
