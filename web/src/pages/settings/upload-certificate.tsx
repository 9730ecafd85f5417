import { type ChangeEvent, type FormEvent, useId, useState } from 'react';
import { faultsOf } from '../../faults.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { FormError } from '../../parts/states.tsx';
import { Textarea } from '../../parts/text-field.tsx';
import { useAct } from '../../queries.ts';

/** More than any chain or key has, in characters. */
const MAX_PEM = 256 * 1024;

/** Puts a certificate and its key in the place of the present one. */
export function UploadCertificate({
  open,
  onClose,
}: {
  readonly open: boolean;
  readonly onClose: () => void;
}) {
  const [certificate, setCertificate] = useState('');
  const [key, setKey] = useState('');
  const close = () => {
    setCertificate('');
    setKey('');
    put.reset();
    onClose();
  };
  const put = useAct('putCertificate', {
    changes: ['settings', 'health'],
    done: 'The certificate is in use',
    quiet: true,
    onDone: close,
  });
  const faults = faultsOf(put.error, ['certificate', 'key']);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    put.mutate({ certificate, key });
  };
  return (
    <Dialog
      open={open}
      onClose={close}
      title="Upload a certificate"
      description="Both as PEM. It is in use at once, on every TLS port."
    >
      <form onSubmit={submit} className="space-y-4">
        <PemField
          label="Certificate and those between it and the root"
          begins="-----BEGIN CERTIFICATE-----"
          value={certificate}
          onChange={setCertificate}
          error={faults.fields['certificate']}
        />
        <PemField
          label="Private key"
          begins="-----BEGIN PRIVATE KEY-----"
          hint="Without a passphrase. It is kept in the data directory, for the service's own user alone, and never shown again."
          value={key}
          onChange={setKey}
          error={faults.fields['key']}
        />
        <FormError>{faults.rest}</FormError>
        <div className="flex flex-wrap justify-end gap-2">
          <Button onClick={close}>Keep the present one</Button>
          <Button
            type="submit"
            look="primary"
            busy={put.isPending}
            disabled={certificate === '' || key === ''}
          >
            Use this certificate
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

function PemField({
  label,
  begins,
  hint,
  value,
  onChange,
  error,
}: {
  readonly label: string;
  readonly begins: string;
  readonly hint?: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly error: string | undefined;
}) {
  const id = useId();
  const read = async ({ target }: ChangeEvent<HTMLInputElement>) => {
    const [file] = target.files ?? [];
    if (file) onChange((await file.slice(0, MAX_PEM).text()).trim());
    target.value = '';
  };
  return (
    <div>
      <Textarea
        label={label}
        mono
        rows={4}
        spellCheck={false}
        autoComplete="off"
        placeholder={begins}
        value={value}
        onChange={onChange}
        hint={hint}
        error={error}
      />
      <label htmlFor={id} className="link mt-1 inline-block cursor-pointer text-sm focus-within:outline-2">
        Read it from a file
        <input id={id} type="file" accept=".pem,.crt,.cer,.key" onChange={read} className="sr-only" />
      </label>
    </div>
  );
}
