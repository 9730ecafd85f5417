import type { ProviderName } from '../../../domain/drop-in.ts';
import type { Exchange } from '../../../http/exchange.ts';
import type { Problem } from '../../../http/problem.ts';
import type { Route } from '../../../http/router.ts';
import { answerAsMailgun } from '../mailgun.ts';
import type { Provider, ProviderEndpoint } from './provider.ts';
import { RESEND } from './resend/resend.ts';
import { SENDGRID } from './sendgrid/sendgrid.ts';

/** Every provider's API, and whose a path is. */

const PROVIDERS: Readonly<Record<ProviderName, Provider>> = { resend: RESEND, sendgrid: SENDGRID };

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
  const start = startOf(path);
  const name = enabled.find((one) => first === one || STARTS[one].has(start));
  if (name !== undefined) return PROVIDERS[name].refuse;
  return first === 'v3' && second !== undefined ? answerAsMailgun : null;
}

/** How the paths of a provider begin. */
const STARTS: Readonly<Record<ProviderName, ReadonlySet<string>>> = {
  resend: startsOf(RESEND),
  sendgrid: startsOf(SENDGRID),
};

function startsOf({ endpoints }: Provider): ReadonlySet<string> {
  return new Set(endpoints.map(({ path }) => startOf(path)));
}

/** The first segment; behind a version, which providers share, the second, too. */
function startOf(path: string): string {
  const [first = '', second = ''] = path.slice(1).split('/', 2);
  return /^v\d$/.test(first) ? `${first}/${second}` : first;
}
