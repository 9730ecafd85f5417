import type { ComponentProps } from 'react';
import type { Faults } from '../../faults.ts';
import { classNames, FILLS } from '../../parts/class-names.ts';
import { SecretField, TextField } from '../../parts/text-field.tsx';

/** The colour of each level of strength. */
const METER = ['bg-sunken', FILLS.failed, FILLS.retrying, FILLS.delivered, FILLS.delivered] as const;

/** What a user is called when signing in. */
export function UserNameField(
  field: Pick<ComponentProps<typeof TextField>, 'value' | 'onChange' | 'error' | 'hint' | 'autoFocus'>,
) {
  return (
    <TextField
      label="Name"
      name="username"
      verbatim
      autoComplete="username"
      required
      maxLength={64}
      {...field}
    />
  );
}

/** A password; the one that holds now, unless it says otherwise. */
export function PasswordField(
  field: Omit<ComponentProps<typeof SecretField>, 'label'> & { readonly label?: string },
) {
  return (
    <SecretField
      label="Password"
      name="password"
      autoComplete="current-password"
      required
      maxLength={1024}
      {...field}
    />
  );
}

/** Whose password is asked for: password managers look for it. */
export function HiddenUserName({ name }: { readonly name: string }) {
  return <input type="text" name="username" autoComplete="username" value={name} readOnly hidden />;
}

/** What was wrong with a code of a second factor, at its field. */
export function codeFault(error: Error | null): Faults {
  return { fields: error ? { code: error.message } : {}, rest: null };
}

/** What is wrong with a new password by itself: that it is too short. */
export function passwordFault(password: string, name: string): string | undefined {
  const { level, told } = strengthOf(password, name);
  return level === 0 ? told : undefined;
}

/** A password that is chosen, with how hard it is to guess. */
export function NewPasswordField({
  name,
  error,
  ...field
}: ComponentProps<typeof PasswordField> & {
  /** Whose it is: a password should not have the name in it. */
  readonly name: string;
}) {
  const { level, told } = strengthOf(field.value, name);
  // What is missing is told once, in the place of the error where it is one.
  const toldLive = <span aria-live="polite">{told}</span>;
  const isError = error === told;
  return (
    <PasswordField
      name="new-password"
      autoComplete="new-password"
      {...field}
      error={isError ? toldLive : error}
      hint={
        <span className="block">
          <span aria-hidden className="mb-1 grid grid-cols-4 gap-1">
            {[1, 2, 3, 4].map((step) => (
              <span
                key={step}
                className={classNames('h-1 rounded-full', step <= level ? METER[level] : METER[0])}
              />
            ))}
          </span>
          {!isError && toldLive}
        </span>
      }
    />
  );
}

// How hard a password is to guess, told in plain words. The server asks for the length alone.

/** Fewer characters are refused. */
const MIN_PASSWORD = 12;

/** What there is to say of a password. */
export interface Strength {
  /** 0 is refused; 1 is easy to guess, 4 is not. */
  readonly level: 0 | 1 | 2 | 3 | 4;
  readonly told: string;
}

const SEQUENCES = [
  'abcdefghijklmnopqrstuvwxyz',
  '01234567890',
  'qwertyuiop',
  'asdfghjkl',
  'zxcvbnm',
  'qwertzuiop',
  'yxcvbnm',
];

/** What people begin with: worth about as much as two letters. */
const USUAL = [
  ...'password passwort passphrase kennwort welcome letmein administrator admin waybill'.split(' '),
  ...'secret changeme dragon monkey football iloveyou sunshine princess master test'.split(' '),
];

/** Judges a password of the user of that name. */
export function strengthOf(password: string, name: string): Strength {
  const characters = [...password];
  const missing = MIN_PASSWORD - characters.length;
  if (password === '')
    return { level: 0, told: `At least ${MIN_PASSWORD} characters. A few words in a row are fine.` };
  if (missing > 0)
    return {
      level: 0,
      told: missing === 1 ? 'One more character is needed.' : `${missing} more characters are needed.`,
    };
  const plain = password.toLowerCase();
  if (new Set(characters).size < 5) return { level: 1, told: 'Easy to guess: it repeats a few characters.' };
  const bits = bitsOf(password, name);
  if (bits < 40) return { level: 1, told: `Easy to guess: ${weaknessOf(plain, name)}.` };
  if (bits < 60) return { level: 2, told: 'Fair. A few more characters make it much better.' };
  if (bits < 80) return { level: 3, told: 'Good.' };
  return { level: 4, told: 'Strong.' };
}

function weaknessOf(plain: string, name: string): string {
  if (holdsName(plain, name)) return 'it has your name in it';
  const usual = USUAL.find((word) => plain.includes(word));
  return usual === undefined ? 'it follows a pattern' : `many begin with “${usual}”`;
}

function holdsName(plain: string, name: string): boolean {
  return name.length >= 3 && plain.includes(name.toLowerCase());
}

/** Roughly how many bits it takes to guess it: characters that follow from those before them count little. */
function bitsOf(password: string, name: string): number {
  let plain = password.toLowerCase();
  for (const word of holdsName(plain, name) ? [name.toLowerCase(), ...USUAL] : USUAL)
    plain = plain.replaceAll(word, '\u0000\u0000');
  const characters = [...plain];
  let bits = 0;
  const perCharacter = Math.log2(poolOf(password));
  for (const [place, character] of characters.entries()) {
    const before = characters[place - 1];
    bits += before !== undefined && follows(before, character) ? 1 : perCharacter;
  }
  // What stands in it twice counts once.
  const half = plain.slice(0, Math.floor(plain.length / 2));
  return plain === half + half ? bits / 2 : bits;
}

function poolOf(password: string): number {
  let pool = 0;
  if (/[a-z]/.test(password)) pool += 26;
  if (/[A-Z]/.test(password)) pool += 26;
  if (/\d/.test(password)) pool += 10;
  if (/[^a-zA-Z0-9]/.test(password)) pool += 30;
  return Math.max(pool, 2);
}

/** Whether a character is what one expects after another: the same, or the next of a row, either way. */
function follows(before: string, character: string): boolean {
  if (before === character) return true;
  return SEQUENCES.some((row) => {
    const at = row.indexOf(before);
    return at >= 0 && (row[at + 1] === character || row[at - 1] === character);
  });
}
