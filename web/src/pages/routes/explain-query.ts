/** What the explain box holds, and the parameters that it comes to. */

/** What mail is described by. */
export interface ExplainForm {
  readonly from: string;
  readonly to: string;
  readonly tags: string;
  readonly key: string;
  readonly source: string;
  readonly sourceAddress: string;
  readonly sizeBytes: number | null;
  /** In UTC, such as `2026-11-22T08:30`; empty for now. */
  readonly at: string;
}

/** A box that nothing was written into yet. */
export const NOTHING_ASKED: ExplainForm = {
  ...{ from: '', to: '', tags: '', key: '', source: '', sourceAddress: '', sizeBytes: null, at: '' },
};

/** The parameters of `GET /api/v1/routes/explain`. */
export function explainQuery(form: ExplainForm): [string, string][] {
  const { from, to, tags, key, source, sourceAddress, sizeBytes, at } = form;
  const given: readonly (readonly [string, string])[] = [
    ['from', from],
    ['to', to],
    ...tags.split(',').map((tag) => ['tag', tag] as const),
    ['key', key],
    ['source', source],
    ['sourceAddress', sourceAddress],
    ['sizeBytes', sizeBytes === null ? '' : String(sizeBytes)],
    ['at', at === '' ? '' : `${at}${at.length === 16 ? ':00' : ''}Z`],
  ];
  return given.flatMap(([name, value]): [string, string][] => {
    const text = value.trim();
    return text === '' ? [] : [[name, text]];
  });
}

/** Why a rule does not match, by the condition that does not hold. */
const UNMET: Readonly<Record<string, string>> = {
  sender: 'the sender is another',
  sender_domain: "the sender's domain is another",
  recipient: 'the recipient is another',
  recipient_domain: "the recipient's domain is another",
  tag: 'it has no such tag',
  key: 'another key submits it',
  source: 'another device submits it',
  source_cidr: 'it comes from elsewhere',
  min_bytes: 'it is too small',
  max_bytes: 'it is too large',
  time: 'it is not that time',
};

/** Why a rule does not match, in words. */
export function unmetWords(condition: string): string {
  return UNMET[condition] ?? `${condition} does not hold`;
}
