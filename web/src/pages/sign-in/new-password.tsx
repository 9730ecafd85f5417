import { classNames } from '../../parts/class-names.ts';
import { SecretField } from '../../parts/text-field.tsx';
import { type Strength, strengthOf } from './password-strength.ts';

const FILLS: Readonly<Record<Strength['level'], string>> = {
  0: 'bg-sunken',
  1: 'bg-chart-failed',
  2: 'bg-chart-retrying',
  3: 'bg-chart-delivered',
  4: 'bg-chart-delivered',
};

/** A password that is chosen, with how hard it is to guess. */
export function NewPasswordField({
  label = 'Password',
  name,
  value,
  onChange,
  error,
  autoFocus = false,
}: {
  readonly label?: string;
  /** Whose it is: a password should not have the name in it. */
  readonly name: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly error?: string | undefined;
  readonly autoFocus?: boolean;
}) {
  const { level, told } = strengthOf(value, name);
  // What is missing is told once, in the place of the error where it is one.
  const toldLive = <span aria-live="polite">{told}</span>;
  const isError = error === told;
  return (
    <SecretField
      label={label}
      name="new-password"
      autoComplete="new-password"
      required
      maxLength={1024}
      // The first thing to be done on its page.
      autoFocus={autoFocus}
      value={value}
      onChange={onChange}
      error={isError ? toldLive : error}
      hint={
        <span className="block">
          <span aria-hidden className="mb-1 grid grid-cols-4 gap-1">
            {[1, 2, 3, 4].map((step) => (
              <span
                key={step}
                className={classNames('h-1 rounded-full', step <= level ? FILLS[level] : 'bg-sunken')}
              />
            ))}
          </span>
          {!isError && toldLive}
        </span>
      }
    />
  );
}
