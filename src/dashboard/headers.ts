import type { Exchange } from '../http/exchange.ts';

/** Header fields by which a browser keeps others out, and a message's contents in. */

/** In every answer. No HSTS: it would break the plain API on the same host. */
const EVERYWHERE: readonly (readonly [name: string, value: string])[] = [
  ['X-Content-Type-Options', 'nosniff'],
  ['Referrer-Policy', 'no-referrer'],
  ['Cross-Origin-Resource-Policy', 'same-origin'],
  ['Permissions-Policy', 'camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()'],
];

/** Of a page besides: who opened it, or was opened by it, from elsewhere cannot reach it. Where a policy says `sandbox`, browsers refuse this. */
export const PAGE_OPENER: readonly [name: string, value: string] = [
  'Cross-Origin-Opener-Policy',
  'same-origin',
];

/** Of the page: its own scripts, styles and pictures, frames of its own for previews, and nothing from elsewhere. */
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

/** Of everything else, should a browser take it for a page. */
export const BARE_POLICY = "default-src 'none'; frame-ancestors 'none'; sandbox";

/** Adds what every answer has. */
export function harden(exchange: Exchange): void {
  for (const [name, value] of EVERYWHERE) exchange.setHeader(name, value);
}
