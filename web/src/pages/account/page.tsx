import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useCallback, useState } from 'react';
import type { SessionCalls } from '../../../../src/dashboard/contract.ts';
import { type ApiError, sessionCall } from '../../api.ts';
import { faultsOf } from '../../faults.ts';
import { plural } from '../../format.ts';
import { Button } from '../../parts/button.tsx';
import { Card } from '../../parts/card.tsx';
import { FormError } from '../../parts/form-error.tsx';
import { Page } from '../../parts/page.tsx';
import { Fetched } from '../../parts/states.tsx';
import { SecretField } from '../../parts/text-field.tsx';
import { toast } from '../../parts/toast.tsx';
import { setSession, useSession } from '../../session.tsx';
import { NewPasswordField, strengthOf } from '../sign-in/new-password.tsx';
import { SecondFactorCard } from './second-factor.tsx';
import { type SessionRow, SessionsTable } from './sessions-table.tsx';
import { OWN_SESSIONS, useSessionAct } from './use-session-act.ts';

const ROLES = {
  viewer: 'You see everything but secrets, and change nothing.',
  operator: 'You act on mail and the queue; administrators change the rest.',
  admin: 'You may do everything here.',
};

/** One's own account: password, second factor, sessions. */
export function AccountPage() {
  const { user } = useSession();
  return (
    <Page title="Your account" note={`${user.name}. ${ROLES[user.role]}`} narrow>
      <div className="space-y-5">
        <PasswordCard />
        <SecondFactorCard />
        <OwnSessionsCard />
      </div>
    </Page>
  );
}

/** Where one is signed in, and how to end that. */
export function OwnSessionsCard() {
  const sessions = useQuery<SessionCalls['sessions']['answer'], ApiError>({
    queryKey: OWN_SESSIONS,
    queryFn: () => sessionCall('sessions', {}),
    meta: { topics: ['users'] },
  });
  const end = useSessionAct('end_session', { done: 'The session has ended' });
  const endOthers = useSessionAct('sign_out_others', {
    onDone: ({ ended }) =>
      toast.success(ended === 0 ? 'You were signed in nowhere else' : `${plural(ended, 'session')} ended`),
  });
  const { mutate } = end;
  const onEnd = useCallback(({ id }: SessionRow) => mutate({ id }), [mutate]);
  return (
    <Card
      title="Where you are signed in"
      flush
      actions={
        <Button
          small
          busy={endOthers.isPending}
          disabled={(sessions.data?.length ?? 0) < 2}
          onClick={() => endOthers.mutate({})}
        >
          Sign out everywhere else
        </Button>
      }
    >
      <Fetched query={sessions} lines={3}>
        {(rows) => <SessionsTable sessions={rows} onEnd={onEnd} />}
      </Fetched>
    </Card>
  );
}

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
