import { clientAddress, type Exchange } from '../http/exchange.ts';
import { Problem } from '../http/problem.ts';
import { type CidrSet, isOwnHost, type OwnHosts } from '../lib/network.ts';

/** Who may use the dashboard's port, and under which host names. */
export interface GuardSettings extends OwnHosts {
  /** `webui.allowed_cidrs` */
  readonly allowedCidrs: CidrSet;
  /** `webui.trusted_proxies` */
  readonly trustedProxies: CidrSet;
}

/** The source of a request. Throws the 403 problem if it is not allowed. */
export function requireSource(exchange: Exchange, settings: GuardSettings): string {
  const source = clientAddress(exchange, settings.trustedProxies);
  if (!settings.allowedCidrs.contains(source))
    throw new Problem(
      403,
      'source_not_allowed',
      `${source} may not use this port; allow it in webui.allowed_cidrs.`,
    );
  return source;
}

/**
 * The requested host with its port, as in a URL. Throws the 421 problem for a name that is not ours: a page of another
 * site must not reach us under its own name (DNS rebinding).
 */
export function requireOwnHost(exchange: Exchange, settings: GuardSettings): string {
  const host = (exchange.headers.host ?? '').toLowerCase();
  if (!isOwnHost(host, settings))
    throw new Problem(
      421,
      'host_not_allowed',
      settings.loopbackOnly
        ? 'This server asks nobody for a password, so it answers only at localhost and loopback addresses.'
        : 'This server is not known by that host name; it can be added to webui.allowed_hosts.',
    );
  return host;
}

/**
 * Throws the 403 problem unless a request that changes something comes from a page of ours: its browser says so by
 * `Origin` or `Sec-Fetch-Site`, and both must agree if present. `host` comes from {@link requireOwnHost}.
 */
export function requireOwnOrigin(
  { headers, secure }: Pick<Exchange, 'headers' | 'secure'>,
  host: string,
): void {
  const { origin } = headers;
  const site = headers['sec-fetch-site'];
  const said = origin !== undefined || site !== undefined;
  const agrees =
    (origin === undefined || isOrigin(origin, `${secure ? 'https' : 'http'}://${host}`)) &&
    (site ?? 'same-origin') === 'same-origin';
  if (said && agrees) return;
  throw new Problem(
    403,
    'origin_not_allowed',
    said
      ? 'This comes from a page of another origin. Behind a proxy, the proxy must pass on Host as it was sent.'
      : 'A browser sends Origin; scripts use POST /api/v1/admin on the ports of the API, with a key.',
  );
}

/** Throws the 403 problem for requests embedded or fetched by a page of another origin: it may read nothing here. */
export function refuseForeignFetch({ headers }: Pick<Exchange, 'headers'>): void {
  const site = headers['sec-fetch-site'];
  if (site === undefined || site === 'same-origin' || site === 'none') return;
  throw new Problem(403, 'origin_not_allowed', 'This comes from a page of another origin.');
}

function isOrigin(origin: string, own: string): boolean {
  return withoutPort(origin.toLowerCase()) === withoutPort(own);
}

/** Browsers omit the default port. */
function withoutPort(origin: string): string {
  return origin.replace(/^(https:.*):443$|^(http:.*):80$/, '$1$2');
}

// Headers by which a browser shuts out others, and locks in a message's contents.

/** In every answer. No HSTS: it would break the plain API on the same host. */
const EVERYWHERE: readonly (readonly [name: string, value: string])[] = [
  ['X-Content-Type-Options', 'nosniff'],
  ['Referrer-Policy', 'no-referrer'],
  ['Cross-Origin-Resource-Policy', 'same-origin'],
  ['X-Robots-Tag', 'noindex'],
  ['Permissions-Policy', 'camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()'],
];

/**
 * For pages as well: windows of other origins that opened it, or that it opened, cannot access it. Browsers refuse this
 * under a policy with `sandbox`.
 */
export const PAGE_OPENER: readonly [name: string, value: string] = [
  'Cross-Origin-Opener-Policy',
  'same-origin',
];

/** The policy of the page: its own scripts, styles and pictures, its own frames for previews, nothing external. */
export const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "frame-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** The policy of everything else, in case a browser takes it for a page. */
export const BARE_POLICY = "default-src 'none'; frame-ancestors 'none'; sandbox";

/** Adds the headers of every answer. */
export function harden(exchange: Exchange): void {
  for (const [name, value] of EVERYWHERE) exchange.setHeader(name, value);
}
