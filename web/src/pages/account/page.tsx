import { useQuery } from '@tanstack/react-query';
import { KeyRound, UserRound } from 'lucide-react';
import { useCallback, useState } from 'react';
import type { SessionCalls } from '../../../../src/dashboard/contract.ts';
import { type ApiError, sessionCall } from '../../api.ts';
import { plural } from '../../format.ts';
import { Button } from '../../parts/button.tsx';
import { Form } from '../../parts/form.tsx';
import { Card, Page } from '../../parts/page.tsx';
import { EmptyState, Fetched } from '../../parts/states.tsx';
import { setSession, useSession, useSessionAct } from '../../session.tsx';
import { HiddenUserName, NewPasswordField, PasswordField, passwordFault } from '../sign-in/new-password.tsx';
import { PasskeysCard } from './passkeys.tsx';
import { SecondFactorCard } from './second-factor.tsx';
import { type SessionRow, SessionsTable } from './sessions-table.tsx';

const ROLES = {
  viewer: 'You can see everything except secrets, and change nothing.',
  operator: 'You can act on mail and the queue; administrators change the rest.',
  admin: 'You may do everything here.',
};

/** One's own account: password, second factor, passkeys, sessions. */
export function AccountPage() {
  const { user, resident } = useSession();
  return (
    <Page title="Your account" note={`${user.name}. ${ROLES[user.role]}`} narrow>
      {resident ? (
        <Card>
          <EmptyState icon={UserRound} title="Nobody signs in here">
            This is waybill dev: it asks for no password, so there is none to change and no session to end.
          </EmptyState>
        </Card>
      ) : (
        <div className="space-y-5">
          {user.provider === null ? (
            <>
              <PasswordCard />
              <SecondFactorCard />
              <PasskeysCard />
            </>
          ) : (
            <Card>
              <EmptyState icon={KeyRound} title={`You sign in with ${user.provider}`}>
                Your password, your second factor and your passkeys are kept there, and what you may do here
                follows from your groups, each time you sign in.
              </EmptyState>
            </Card>
          )}
          <OwnSessionsCard />
        </div>
      )}
    </Page>
  );
}

/** Where one is signed in, and how to end that. */
function OwnSessionsCard() {
  const sessions = useQuery<SessionCalls['sessions']['answer'], ApiError>({
    queryKey: ['own-sessions'],
    queryFn: () => sessionCall('sessions', {}),
    meta: { topics: ['users'] },
  });
  const end = useSessionAct('end_session', { done: 'The session has ended' });
  const endOthers = useSessionAct('sign_out_others', {
    done: ({ ended }) =>
      ended === 0 ? 'You were signed in nowhere else' : `${plural(ended, 'session')} ended`,
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
          label="Sign out everywhere else"
          busy={endOthers.isPending}
          disabled={(sessions.data?.length ?? 0) < 2}
          onClick={() => endOthers.mutate({})}
        />
      }
    >
      <Fetched query={sessions} lines={3} shape="table">
        {(rows) => <SessionsTable sessions={rows} onEnd={onEnd} />}
      </Fetched>
    </Card>
  );
}

/** Changes one's own password. */
function PasswordCard() {
  const { user } = useSession();
  const [changes, setChanges] = useState(0);
  const change = useSessionAct('password', {
    quiet: true,
    done: 'The password was changed, and your other sessions have ended',
    onDone: (view) => {
      setChanges(changes + 1);
      setSession(view);
    },
  });
  return (
    <Card title="Password">
      <Form
        // Empty again once it was changed.
        key={changes}
        act={change}
        initial={{ current: '', next: '' }}
        request={(values) => values}
        check={({ next }) => ({ next: passwordFault(next, user.name) })}
        submit="Change password"
        look="plain"
        className="max-w-sm space-y-4"
      >
        {({ field }) => (
          <>
            <HiddenUserName name={user.name} />
            <PasswordField label="Present password" name="current-password" {...field('current')} />
            <NewPasswordField label="New password" name={user.name} {...field('next')} />
          </>
        )}
      </Form>
    </Card>
  );
}
