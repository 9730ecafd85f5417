import { Select } from '../../parts/choice.tsx';
import { TextField } from '../../parts/text-field.tsx';

/** What new keys are made with. */
export type Algorithm = 'rsa' | 'ed25519' | 'both';

const ALGORITHMS: readonly { readonly value: Algorithm; readonly label: string; readonly note: string }[] = [
  { value: 'both', label: 'RSA and Ed25519', note: 'Verified everywhere, and ready for what comes.' },
  { value: 'rsa', label: 'RSA, 2048 bits', note: 'Verified everywhere. One record.' },
  { value: 'ed25519', label: 'Ed25519', note: 'Short and quick, but not verified by everyone yet.' },
];

/** The algorithm of new keys, and, for those who want it otherwise, their selector. */
export function KeyChoice({
  algorithm,
  selector,
  selectorError,
  onAlgorithm,
  onSelector,
}: {
  readonly algorithm: Algorithm;
  readonly selector: string;
  readonly selectorError: string | undefined;
  readonly onAlgorithm: (algorithm: Algorithm) => void;
  readonly onSelector: (selector: string) => void;
}) {
  return (
    <>
      <Select label="Keys" choices={ALGORITHMS} value={algorithm} onChange={onAlgorithm} />
      <TextField
        label="Selector"
        hint="The label that the keys stand under in the DNS. Empty: made of the day."
        mono
        maxLength={63}
        spellCheck={false}
        autoComplete="off"
        autoCapitalize="none"
        value={selector}
        onChange={onSelector}
        error={selectorError}
      />
    </>
  );
}
