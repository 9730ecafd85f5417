/** Bugs by which a certificate would end, be another's, or be ordered too often. */
import type { Mutant, Trap } from './mutant.ts';

/** Weeks of an authority that is ill, and of nodes that die. */
const HISTORIES: Trap = {
  file: 'test/simulation/certificates.test.ts',
  test: 'keeps a certificate that is good',
  environment: { WAYBILL_SEEDS: '1-4' },
};

export const CERTIFYING: readonly Mutant[] = [
  {
    name: 'certificate-gone-while-it-is-ordered',
    breaks: 'The present certificate stays until there is another: here it goes when the order begins.',
    edits: [
      {
        file: 'src/acme/keeper.ts',
        before: '      const replaces = this.#idOfPresent(terms);\n',
        after: '      const replaces = this.#idOfPresent(terms);\n      this.#pair = null;\n',
      },
    ],
    traps: [keeper('a challenge that fails is told as challenge_failed')],
  },
  {
    name: 'certificate-not-renewed',
    breaks: 'A certificate is renewed while a third of its life is left: here when it has ended.',
    edits: [
      {
        file: 'src/domain/certificate.ts',
        before: 'if (advice === null) return life.notAfter - (length * leftPercent) / 100;',
        after: 'if (advice === null) return life.notAfter + (length * leftPercent) / 100;',
      },
    ],
    traps: [
      { file: 'src/domain/certificate.test.ts', test: 'without advice once that share of its life is left' },
      keeper('is made when a third of the life is left'),
      HISTORIES,
    ],
  },
  {
    name: 'certificate-of-others-used',
    breaks: 'Nothing that an authority issues is used unread.',
    edits: [
      {
        file: 'src/acme/order.ts',
        before: '  if (missing.length > 0)\n',
        after: '  if (missing.length > names.length)\n',
      },
    ],
    traps: [keeper('a certificate for another name is told as certificate_unfit')],
  },
  {
    name: 'certificate-key-in-clear',
    breaks: 'The key of a certificate is sealed where it is stored.',
    edits: [
      {
        file: 'src/acme/keeper.ts',
        before: 'sealed: vault.seal(pair.key, CERTIFICATE_KEY),',
        after: 'sealed: pair.key,',
      },
    ],
    traps: [keeper('is made at once, and its key is sealed')],
  },
  {
    name: 'certificate-ordered-by-all',
    breaks: 'One node at a time orders the certificate.',
    edits: [
      {
        file: 'src/acme/keeper.ts',
        before: '    if (!isTaken) return false;\n',
        after: '',
      },
    ],
    traps: [keeper('that an operator wants is refused while another node makes one'), HISTORIES],
  },
  {
    name: 'certificate-of-another-key-used',
    breaks: 'A certificate and its key belong together: here what is issued for another key is used.',
    edits: [
      {
        file: 'src/acme/order.ts',
        before: "  if (fault !== null) throw new AcmeError('certificate_unfit', fault);\n",
        after: "  if (fault === '') throw new AcmeError('certificate_unfit', fault);\n",
      },
    ],
    traps: [HISTORIES],
  },
  {
    name: 'certificate-ordered-again-at-once',
    breaks: 'An order that failed is made again later and later: here at each look.',
    edits: [
      {
        file: 'src/domain/certificate.ts',
        before: 'return Math.max(renewAt ?? now, notBefore ?? 0);',
        after: 'return Math.max(renewAt ?? now, Math.min(notBefore ?? 0, now));',
      },
    ],
    traps: [HISTORIES],
  },
  {
    name: 'certificate-authority-not-left-alone',
    breaks: 'An authority that asks for a rest gets it: here the next order is made as if it had not asked.',
    edits: [
      {
        file: 'src/domain/certificate.ts',
        before: 'const asked = Math.min(retryAfterMs ?? 0, LONGEST_WAIT_MS);',
        after: 'const asked = Math.min(retryAfterMs ?? 0, 0);',
      },
    ],
    traps: [
      {
        file: 'src/domain/certificate.test.ts',
        test: 'the authority’s wish to be left alone holds, for a week at most',
      },
      HISTORIES,
    ],
  },
  {
    name: 'certificate-renewal-advice-ignored',
    breaks: 'The authority says when to renew: here a certificate is renewed as if it did not.',
    edits: [
      {
        file: 'src/domain/certificate.ts',
        before: 'if (advice === null) return life.notAfter',
        after: 'if (advice === null || advice.drawnAt > 0) return life.notAfter',
      },
    ],
    traps: [keeper('is made when the authority says so, as the successor of the certificate'), HISTORIES],
  },
  {
    name: 'certificate-advice-asked-for-once',
    breaks: 'The authority is asked again when to renew: here it is believed for ever.',
    edits: [
      {
        file: 'src/domain/certificate.ts',
        before: 'askAgainAt: now + askAgainMs(retryAfterMs) }',
        after: 'askAgainAt: now + askAgainMs(retryAfterMs) * 1000 }',
      },
    ],
    traps: [HISTORIES],
  },
  {
    name: 'certificate-advice-asked-for-at-every-look',
    breaks: 'The authority says when to ask again: here every node asks at every look.',
    edits: [
      {
        file: 'src/domain/certificate.ts',
        before: 'askAgainAt: now + askAgainMs(retryAfterMs) }',
        after: 'askAgainAt: now }',
      },
    ],
    traps: [HISTORIES],
  },
  {
    name: 'certificate-advice-asked-for-by-all',
    breaks: 'What one node was told all know: here another asks, too, that waited meanwhile.',
    edits: [
      {
        file: 'src/acme/keeper.ts',
        before: 'if (id === null || clock.wall() < (advice?.askAgainAt ?? 0)) return;',
        after: 'if (id === null) return;',
      },
    ],
    traps: [keeper('is asked for once, where another node asked while this one waited for its turn')],
  },
  {
    name: 'certificate-successor-of-nothing',
    breaks: 'An order names the certificate that it replaces, so that the authority lets it pass its limits.',
    edits: [
      {
        file: 'src/acme/client.ts',
        before: 'identifiers, ...successor }',
        after: 'identifiers, ...(names.length === 0 && successor) }',
      },
    ],
    traps: [keeper('is made when the authority says so, as the successor of the certificate'), HISTORIES],
  },
];

function keeper(test: string): Trap {
  return { file: 'src/acme/keeper.test.ts', test };
}
