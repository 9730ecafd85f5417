import { type FormEvent, useState } from 'react';
import type { ResultOf } from '../../../../src/operations/table.ts';
import { faultsOf } from '../../faults.ts';
import { Button } from '../../parts/button.tsx';
import { Checkbox } from '../../parts/checkbox.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { FormError } from '../../parts/form-error.tsx';
import { useAct } from '../../queries.ts';
import { type Algorithm, KeyChoice } from '../domains/key-choice.tsx';

/** Makes new keys for a domain, which sign once their records can be seen. */
export function RotateKeys({
  domain,
  onClose,
}: {
  readonly domain: ResultOf<'domain'>;
  readonly onClose: () => void;
}) {
  const [algorithm, setAlgorithm] = useState<Algorithm>(() => algorithmOf(domain));
  const [selector, setSelector] = useState('');
  const [now, setNow] = useState(false);
  const rotate = useAct('rotateDomain', {
    changes: ['domains'],
    quiet: true,
    done: now ? 'The new keys sign' : 'The new keys wait for their records',
    onDone: onClose,
  });
  const faults = faultsOf(rotate.error, ['selector']);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const given = selector.trim();
    rotate.mutate({ name: domain.name, algorithm, selector: given === '' ? null : given, now });
  };
  return (
    <Dialog
      open
      onClose={onClose}
      title="Make new keys?"
      description="They sign as soon as their records can be seen in the DNS. Until then the present ones do."
    >
      <form onSubmit={submit} className="space-y-4">
        <KeyChoice
          algorithm={algorithm}
          selector={selector}
          selectorError={faults.fields['selector']}
          onAlgorithm={setAlgorithm}
          onSelector={setSelector}
        />
        <Checkbox
          label="Sign with them at once"
          hint="Only where others may have the present keys: until the records are in the DNS, receivers cannot verify what is signed."
          checked={now}
          onChange={setNow}
        >
          Sign with them at once
        </Checkbox>
        <FormError>{faults.rest}</FormError>
        <div className="flex flex-wrap justify-end gap-2">
          <Button onClick={onClose}>Keep the present ones</Button>
          <Button type="submit" look={now ? 'danger' : 'primary'} busy={rotate.isPending}>
            Make new keys
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

/** What the domain signs with now. */
function algorithmOf({ keys }: ResultOf<'domain'>): Algorithm {
  const signing = keys.filter(({ state }) => state === 'signing').map(({ algorithm }) => algorithm);
  const hasRsa = signing.includes('rsa-sha256');
  const hasEd = signing.includes('ed25519-sha256');
  return hasRsa === hasEd ? 'both' : hasRsa ? 'rsa' : 'ed25519';
}
