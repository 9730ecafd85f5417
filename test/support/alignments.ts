import type { Alignment } from '../../src/domain/alignment.ts';

/** How mail of example.com aligns that is signed, and sent from an address of its own. */
export const ALIGNED: Alignment = {
  verdict: 'aligned',
  dkim: 'aligned',
  dkimDomain: 'example.com',
  spf: 'aligned',
  spfDomain: 'example.com',
  detail: 'Signed for example.com, which aligns with From.',
};
