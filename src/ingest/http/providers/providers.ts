import type { ProviderName } from '../../../domain/drop-in.ts';
import type { Exchange } from '../../../http/exchange.ts';
import type { Problem } from '../../../http/problem.ts';
import type { Route } from '../../../http/router.ts';
import { type Call, POSTMARK_HEADER } from '../call.ts';
import { MAILGUN } from './mailgun/mailgun.ts';
import { POSTMARK } from './postmark/postmark.ts';
import { refuseAsPostmark } from './postmark/refusals.ts';
import type { Provider, ProviderEndpoint } from './provider.ts';
import { RESEND } from './resend/resend.ts';
import { SENDGRID } from './sendgrid/sendgrid.ts';
import { SES } from './ses/ses.ts';

/** Every provider's API, and whose a path is. */

const PROVIDERS: Readonly<Record<ProviderName, Provider>> = {
  resend: RESEND,
  postmark: POSTMARK,
  sendgrid: SENDGRID,
  mailgun: MAILGUN,
  ses: SES,
};

/** The calls of these providers, at the root and below the provider's name. */
export function providerRoutes(
  names: readonly ProviderName[],
): Route<ProviderEndpoint & Pick<Call, 'door'>>[] {
  return names.flatMap((name) =>
    PROVIDERS[name].endpoints.flatMap((endpoint) =>
      [endpoint.path, `/${name}${endpoint.path}`].map((path) => ({
        method: endpoint.method,
        path,
        target: { ...endpoint, door: name },
      })),
    ),
  );
}

/** How a request is refused that belongs to a provider's API; null: it is for ours. */
export function refusalAt(
  { path, headers }: Pick<Exchange, 'path' | 'headers'>,
  enabled: readonly ProviderName[],
): ((exchange: Exchange, problem: Problem) => void) | null {
  if (headers[POSTMARK_HEADER] !== undefined && enabled.includes('postmark')) return refuseAsPostmark;
  const [first = ''] = path.slice(1).split('/', 1);
  const start = startOf(path);
  const name = enabled.find(
    (one) => first === one || STARTS[one].has(start) || PROVIDERS[one].owns?.(path) === true,
  );
  return name === undefined ? null : PROVIDERS[name].refuse;
}

/** Who begins a path so has left out `/api/v1`. */
const OURS = 'messages';

/** How the paths of a provider begin. */
const STARTS: Readonly<Record<ProviderName, ReadonlySet<string>>> = {
  resend: startsOf(RESEND),
  postmark: startsOf(POSTMARK),
  sendgrid: startsOf(SENDGRID),
  mailgun: startsOf(MAILGUN),
  ses: startsOf(SES),
};

function startsOf({ endpoints }: Provider): ReadonlySet<string> {
  return new Set(endpoints.map(({ path }) => startOf(path)).filter((start) => start !== OURS));
}

/** The first segment; behind a version, which providers share, the second, too. */
function startOf(path: string): string {
  const [first = '', second = ''] = path.slice(1).split('/', 2);
  return /^v\d$/.test(first) ? `${first}/${second}` : first;
}
