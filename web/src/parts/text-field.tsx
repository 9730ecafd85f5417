import { Eye, EyeOff } from 'lucide-react';
import { type ComponentProps, type ReactNode, useId, useState } from 'react';
import { IconButton } from './button.tsx';
import { classNames } from './class-names.ts';

/** What every field of a form has. */
export interface FieldProps {
  readonly label: ReactNode;
  /** What the value means, or an example. */
  readonly hint?: ReactNode;
  /** What is wrong with the value. */
  readonly error?: ReactNode;
  readonly className?: string | undefined;
}

/** The look of what text is typed into. */
export const INPUT = classNames(
  'w-full rounded-md border border-edge bg-surface px-2.5 text-ink',
  'hover:border-ink/60 focus-visible:outline-offset-0 aria-invalid:border-failed disabled:bg-sunken disabled:text-soft [&:is(input,textarea):read-only]:bg-sunken',
);

/** Label, hint and error around any control, which is given the ids that join them. */
export function Field({
  label,
  hint,
  error,
  className,
  children,
}: FieldProps & {
  readonly children: (ids: {
    readonly id: string;
    readonly 'aria-describedby': string | undefined;
    readonly 'aria-invalid': true | undefined;
  }) => ReactNode;
}) {
  const id = useId();
  const hasError = error !== undefined && error !== null && error !== '';
  const described = [hint !== undefined && `${id}-hint`, hasError && `${id}-error`].filter(Boolean).join(' ');
  return (
    <div className={className}>
      <label htmlFor={id} className="mb-1 block font-medium">
        {label}
      </label>
      {children({
        id,
        'aria-describedby': described === '' ? undefined : described,
        'aria-invalid': hasError || undefined,
      })}
      {hasError && (
        <p id={`${id}-error`} className="mt-1 text-sm text-failed">
          {error}
        </p>
      )}
      {hint !== undefined && (
        <p id={`${id}-hint`} className="mt-1 text-sm text-soft">
          {hint}
        </p>
      )}
    </div>
  );
}

/** What is given to the input itself. `verbatim` is for what is no prose: nothing corrects or fills it in. */
type InputProps = Omit<ComponentProps<'input'>, 'onChange' | 'value' | 'className' | 'id'> & {
  readonly mono?: boolean;
  readonly verbatim?: boolean;
};

const VERBATIM = { spellCheck: false, autoComplete: 'off', autoCapitalize: 'none' } as const;

/** A line of text; its unit, or `children`, stand at its right end. */
export function TextField({
  label,
  hint,
  error,
  className,
  onChange,
  mono = false,
  verbatim = false,
  unit = null,
  children,
  ...input
}: FieldProps &
  InputProps & {
    readonly value: string;
    readonly onChange: (value: string) => void;
    readonly unit?: string | null;
  }) {
  return (
    <Field label={label} hint={hint} error={error} className={className}>
      {(ids) => (
        <div className="relative">
          <input
            type="text"
            {...(verbatim && VERBATIM)}
            {...input}
            {...ids}
            onChange={({ target }) => onChange(target.value)}
            className={classNames(
              INPUT,
              'h-9',
              mono && 'font-mono text-sm',
              unit !== null ? 'pr-20' : children !== undefined && 'pr-10',
            )}
          />
          {unit !== null && (
            <span className="pointer-events-none absolute inset-y-0 right-3 flex items-center text-sm text-soft">
              {unit}
            </span>
          )}
          {children}
        </div>
      )}
    </Field>
  );
}

/** Several lines of text. */
export function Textarea({
  label,
  hint,
  error,
  className,
  value,
  onChange,
  mono = false,
  rows = 5,
  ...input
}: FieldProps & {
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly mono?: boolean;
} & Omit<ComponentProps<'textarea'>, 'onChange' | 'value' | 'className' | 'id'>) {
  return (
    <Field label={label} hint={hint} error={error} className={className}>
      {(ids) => (
        <textarea
          {...input}
          {...ids}
          rows={rows}
          value={value}
          onChange={(event) => onChange(event.target.value)}
          className={classNames(INPUT, 'py-2', mono && 'font-mono text-sm')}
        />
      )}
    </Field>
  );
}

/** A whole number; null while the field is empty or holds something else. */
export function NumberField({
  value,
  onChange,
  ...field
}: FieldProps &
  InputProps & {
    readonly value: number | null;
    readonly onChange: (value: number | null) => void;
    readonly unit?: string;
  }) {
  const [written, setWritten] = useState<string | null>(null);
  const shown =
    written !== null && Number(written) === value ? written : (value?.toString() ?? written ?? '');
  const write = (text: string) => {
    setWritten(text);
    onChange(/^\s*-?\d{1,15}\s*$/.test(text) ? Number(text) : null);
  };
  return <TextField {...field} inputMode="numeric" value={shown} onChange={write} />;
}

/** A password or key. Nothing that was stored is ever shown: an empty field keeps it. */
export function SecretField(
  props: FieldProps & InputProps & { readonly value: string; readonly onChange: (value: string) => void },
) {
  const [shown, setShown] = useState(false);
  return (
    <TextField verbatim {...props} type={shown ? 'text' : 'password'}>
      <IconButton
        icon={shown ? EyeOff : Eye}
        label={shown ? 'Hide' : 'Show'}
        small
        className="absolute inset-y-0 right-1 my-auto"
        onClick={() => setShown(!shown)}
      />
    </TextField>
  );
}
