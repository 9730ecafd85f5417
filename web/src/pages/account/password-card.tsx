import { type FormEvent, useState } from 'react';
import { faultsOf } from '../../faults.ts';
import { Button } from '../../parts/button.tsx';
import { Card } from '../../parts/card.tsx';
import { FormError } from '../../parts/form-error.tsx';
import { SecretField } from '../../parts/text-field.tsx';
import { setSession, useSession } from '../../session.tsx';
import { NewPasswordField } from '../sign-in/new-password.tsx';
import { strengthOf } from '../sign-in/password-strength.ts';
import { useSessionAct } from './use-session-act.ts';

/** Changes one's own password. */
export function PasswordCard() {
  const { user } = useSession();
  const [current, setCurrent] = useState('');
  const [next, setNext] = useState('');
  const [tried, setTried] = useState(false);
  const change = useSessionAct('password', {
    quiet: true,
    done: 'The password was changed, and your other sessions have ended',
    onDone: (view) => {
      setCurrent('');
      setNext('');
      setTried(false);
      setSession(view);
    },
  });
  const faults = faultsOf(change.error, ['current', 'next']);
  const strength = strengthOf(next, user.name);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setTried(true);
    if (strength.level > 0) change.mutate({ current, next });
  };
  return (
    <Card title="Password">
      <form onSubmit={submit} className="max-w-sm space-y-4">
        <input type="text" name="username" autoComplete="username" value={user.name} readOnly hidden />
        <SecretField
          label="Present password"
          name="current-password"
          autoComplete="current-password"
          required
          maxLength={1024}
          value={current}
          onChange={setCurrent}
          error={faults.fields['current']}
        />
        <NewPasswordField
          label="New password"
          name={user.name}
          value={next}
          onChange={setNext}
          error={faults.fields['next'] ?? (tried && strength.level === 0 ? strength.told : undefined)}
        />
        <FormError>{faults.rest}</FormError>
        <Button type="submit" busy={change.isPending}>
          Change password
        </Button>
      </form>
    </Card>
  );
}
