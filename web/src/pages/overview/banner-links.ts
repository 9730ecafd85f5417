import { linkOptions } from '@tanstack/react-router';
import type { RowTarget } from '../../parts/row-link.tsx';

/** Where something can be done about a banner. */
interface BannerLink {
  readonly label: string;
  readonly target: RowTarget;
}

const LINKS: readonly (readonly [code: RegExp, link: BannerLink])[] = [
  [/^captured/, { label: 'Add a relay', target: linkOptions({ to: '/relays', search: { add: 'choose' } }) }],
  [/relay|breaker/, { label: 'Relays', target: linkOptions({ to: '/relays' }) }],
  [/route/, { label: 'Routes', target: linkOptions({ to: '/routes' }) }],
  [/queue|oldest|late|spool/, { label: 'Queue', target: linkOptions({ to: '/queue' }) }],
  [
    /cert|tls/,
    {
      label: 'Certificate',
      target: linkOptions({ to: '/settings/$section', params: { section: 'certificate' } }),
    },
  ],
  [/denied|denial/, { label: 'Settings', target: linkOptions({ to: '/settings' }) }],
  [
    /disk|storage|database/,
    { label: 'Storage', target: linkOptions({ to: '/system', search: { tab: 'storage' } }) },
  ],
  [/./, { label: 'Health', target: linkOptions({ to: '/system' }) }],
];

/** The page for a banner's code: that of a check of health, or `captured`; null for an empty code. */
export function whereBannerLeads(code: string): BannerLink | null {
  return LINKS.find(([pattern]) => pattern.test(code))?.[1] ?? null;
}
