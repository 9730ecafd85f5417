import { type FormEvent, useState } from 'react';
import { faultsOf } from '../../faults.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { FormError } from '../../parts/form-error.tsx';
import { TextField } from '../../parts/text-field.tsx';
import { useAct } from '../../queries.ts';
import { type Algorithm, KeyChoice } from './key-choice.tsx';

/** Registers a domain, and makes its first keys. */
export function AddDomain({
  open,
  onClose,
  onAdded,
}: {
  readonly open: boolean;
  readonly onClose: () => void;
  readonly onAdded: (name: string) => void;
}) {
  const [name, setName] = useState('');
  const [algorithm, setAlgorithm] = useState<Algorithm>('both');
  const [selector, setSelector] = useState('');
  const add = useAct('addDomain', {
    changes: ['domains'],
    quiet: true,
    done: ({ name: added }) => `${added} is registered`,
    onDone: (domain) => onAdded(domain.name),
  });
  const close = () => {
    add.reset();
    setName('');
    setSelector('');
    onClose();
  };
  const faults = faultsOf(add.error, ['name', 'selector']);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    add.mutate({ name: name.trim(), algorithm, selector: selector.trim() === '' ? null : selector.trim() });
  };
  return (
    <Dialog
      open={open}
      onClose={close}
      title="Add a domain"
      description="Its mail is signed at once. Receivers can verify that when the records are in the DNS."
    >
      <form onSubmit={submit} className="space-y-4">
        <TextField
          label="Domain"
          hint="What stands behind the @ of your senders."
          placeholder="example.com"
          required
          spellCheck={false}
          autoComplete="off"
          autoCapitalize="none"
          value={name}
          onChange={setName}
          error={faults.fields['name']}
        />
        <KeyChoice
          algorithm={algorithm}
          selector={selector}
          selectorError={faults.fields['selector']}
          onAlgorithm={setAlgorithm}
          onSelector={setSelector}
        />
        <FormError>{faults.rest}</FormError>
        <div className="flex flex-wrap justify-end gap-2">
          <Button onClick={close}>Cancel</Button>
          <Button type="submit" look="primary" busy={add.isPending}>
            Add domain
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
