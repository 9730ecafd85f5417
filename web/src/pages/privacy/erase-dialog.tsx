import type { ResultOf } from '../../../../src/operations/table.ts';
import { formatCount } from '../../format.ts';
import { ask } from '../../parts/ask.tsx';
import { ActionForm } from '../../parts/form.tsx';
import { KeyValue } from '../../parts/page.tsx';
import { TextField } from '../../parts/text-field.tsx';

/** Asks for the address, then shows what would be touched, and begins only once the address was typed again. */
export function EraseDialog({ onClose }: { readonly onClose: () => void }) {
  return (
    <ActionForm
      operation="previewErasure"
      sheet={{
        title: 'Erase a person',
        description: 'Nothing is erased yet: the next step shows what would be touched.',
      }}
      initial={{ address: '' }}
      check={({ address }) => ({ address: address.trim() === '' ? 'Enter an address.' : null })}
      request={({ address }) => ({ address: address.trim() })}
      submit="Preview"
      onDone={(preview) => {
        onClose();
        askToErase(preview);
      }}
      onClose={onClose}
      noValidate
    >
      {({ field }) => (
        <TextField
          label="Address"
          hint="The whole address of one person."
          placeholder="ann@example.org"
          verbatim
          {...field('address')}
        />
      )}
    </ActionForm>
  );
}

function askToErase({ address, to, from, waiting, more, suppressions }: ResultOf<'previewErasure'>): void {
  const counted = (count: number) => `${formatCount(count)}${more ? ', or more' : ''}`;
  ask('erasePerson', {
    request: { address },
    done: 'The person is being erased',
    title: 'Erase this person?',
    text: (
      <>
        <p>
          <strong className="font-semibold break-words">{address}</strong> is removed from everything that is
          kept. This cannot be undone.
        </p>
        <KeyValue
          rows={{
            'Messages to it': counted(to),
            'Messages from it': counted(from),
            'Not sent yet': formatCount(waiting),
            Suppressions: formatCount(suppressions),
          }}
        />
        <p className="text-soft">
          These messages lose contents, subject and metadata, also for their other recipients. Mail that waits
          for this person alone is cancelled. Suppressions go on stopping mail. Old backups are not reached.
        </p>
      </>
    ),
    confirm: 'Erase',
    danger: true,
    typed: address,
  });
}
