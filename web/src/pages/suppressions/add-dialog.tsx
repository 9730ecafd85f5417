import { Select } from '../../parts/choice.tsx';
import { ActionForm, type FormInHand } from '../../parts/form.tsx';
import { TextField } from '../../parts/text-field.tsx';

/** Whose mail is stopped. */
export interface ScopeValues {
  readonly whose: 'global' | 'domain' | 'key';
  /** The name of the domain or the key. */
  readonly name: string;
}

/** Nothing chosen: all mail. */
export const ALL_MAIL: ScopeValues = { whose: 'global', name: '' };

/** The scope that was chosen. */
export function scopeOf({ whose, name }: ScopeValues): string {
  return whose === 'global' ? 'global' : `${whose}:${name.trim()}`;
}

/** Chooses whose mail is stopped. */
export function ScopeFields({
  form: { values, field, faults },
}: {
  readonly form: Pick<FormInHand<ScopeValues>, 'values' | 'field' | 'faults'>;
}) {
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      <Select
        label="Stops"
        choices={[
          { value: 'global', label: 'All mail' },
          { value: 'domain', label: 'Mail from a domain' },
          { value: 'key', label: 'Mail of an API key' },
        ]}
        {...field('whose')}
        error={values.whose === 'global' ? faults['scope'] : undefined}
      />
      {values.whose !== 'global' && (
        <TextField
          label={values.whose === 'domain' ? 'Domain' : 'Name of the key'}
          verbatim
          {...field('name')}
          error={faults['name'] ?? faults['scope']}
        />
      )}
    </div>
  );
}

const DAY_MS = 86_400_000;
const ENDS = [
  { value: '0', label: 'Never by itself' },
  { value: '7', label: 'After 7 days' },
  { value: '30', label: 'After 30 days' },
  { value: '90', label: 'After 90 days' },
  { value: '365', label: 'After a year' },
] as const;

const NOTHING = {
  ...ALL_MAIL,
  address: '',
  reason: 'manual' as 'manual' | 'unsubscribe',
  ends: '0' as (typeof ENDS)[number]['value'],
  stream: '',
  note: '',
  /** Where faults of the scope stand. */
  scope: '',
};

/** Adds an address to the list. */
export function AddDialog({ onClose }: { readonly onClose: () => void }) {
  return (
    <ActionForm
      operation="addSuppression"
      sheet={{
        title: 'Suppress an address',
        description:
          'Mail to it is sent no more, by whichever relay: all of it, or only what you choose here.',
      }}
      initial={NOTHING}
      check={({ address, whose, name }) => ({
        address: address.trim() === '' ? 'Enter an address.' : null,
        name: whose !== 'global' && name.trim() === '' ? 'Enter a name.' : null,
      })}
      request={({ address, reason, ends, stream, note, ...scope }) => ({
        address: address.trim(),
        scope: scopeOf(scope),
        stream: stream.trim() || null,
        reason,
        expiresAt: ends === '0' ? null : new Date(Date.now() + Number(ends) * DAY_MS).toISOString(),
        note: note.trim(),
      })}
      submit="Suppress"
      done={({ suppression: { address }, added }) =>
        added ? `${address} is suppressed` : `${address} was suppressed already; its entry is renewed`
      }
      onDone={onClose}
      onClose={onClose}
      noValidate
    >
      {(form) => (
        <>
          <TextField
            label="Address"
            hint="One address; *@example.org for a domain; *@*.example.org for all domains below it."
            placeholder="ann@example.org"
            verbatim
            {...form.field('address')}
          />
          <Select
            label="Why"
            choices={[
              { value: 'manual', label: 'Somebody decided so' },
              { value: 'unsubscribe', label: 'Its owner wants no more mail' },
            ]}
            {...form.field('reason')}
          />
          <ScopeFields form={form} />
          <div className="grid gap-4 sm:grid-cols-2">
            <Select label="Ends" choices={ENDS} {...form.field('ends')} />
            <TextField
              label="Only this stream"
              placeholder="Every stream"
              verbatim
              {...form.field('stream')}
            />
          </div>
          <TextField
            label="Note"
            placeholder="Such as: asked by phone"
            maxLength={500}
            {...form.field('note')}
          />
        </>
      )}
    </ActionForm>
  );
}
