import { type FormEvent, type ReactNode, useState } from 'react';
import { faultsOf } from '../../faults.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { FormError } from '../../parts/form-error.tsx';
import { SecretField } from '../../parts/text-field.tsx';
import { useSession } from '../../session.tsx';

/** Asks for the password once more, before something that only its owner may do. */
export function PasswordDialog({
  title,
  confirm,
  danger = false,
  busy,
  error,
  onConfirm,
  onClose,
  children,
}: {
  readonly title: string;
  readonly confirm: string;
  readonly danger?: boolean;
  readonly busy: boolean;
  readonly error: Error | null;
  readonly onConfirm: (password: string) => void;
  readonly onClose: () => void;
  readonly children: ReactNode;
}) {
  const { user } = useSession();
  const [password, setPassword] = useState('');
  const faults = faultsOf(error, ['password']);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onConfirm(password);
  };
  return (
    <Dialog open onClose={onClose} size="small" title={title}>
      <form onSubmit={submit} className="space-y-4">
        <p>{children}</p>
        <input type="text" name="username" autoComplete="username" value={user.name} readOnly hidden />
        <SecretField
          label="Your password"
          name="password"
          autoComplete="current-password"
          required
          maxLength={1024}
          value={password}
          onChange={setPassword}
          error={faults.fields['password']}
        />
        <FormError>{faults.rest}</FormError>
        <div className="flex flex-wrap justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look={danger ? 'danger' : 'primary'} busy={busy}>
            {confirm}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
