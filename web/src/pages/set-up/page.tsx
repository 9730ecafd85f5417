import { useQuery } from '@tanstack/react-query';
import { useRouter } from '@tanstack/react-router';
import { KeyRound, Link2Off } from 'lucide-react';
import type { SessionCalls, SessionView } from '../../../../src/dashboard/contract.ts';
import { type ApiError, sessionCall } from '../../api.ts';
import { Button } from '../../parts/button.tsx';
import { Form } from '../../parts/form.tsx';
import { useTitle } from '../../parts/page.tsx';
import { EmptyState, Fetched } from '../../parts/states.tsx';
import { Time } from '../../parts/values.tsx';
import { setSession, useSessionAct } from '../../session.tsx';
import { HiddenUserName, NewPasswordField, passwordFault, UserNameField } from '../sign-in/new-password.tsx';

type Link = SessionCalls['link']['answer'];

/** Where a set-up link leads: someone chooses a password, and, first of all, a name. */
export function SetUpPage({ view, token }: { readonly view: SessionView; readonly token: string | null }) {
  useTitle('Set up');
  if (token === null) return <NotClaimed />;
  return <WithLink token={token} isSignedIn={view.state === 'signed_in'} />;
}

function NotClaimed() {
  return (
    <EmptyState icon={KeyRound} title="Nobody has claimed this dashboard yet">
      <p>
        When the server starts it prints a link that claims it, once, within an hour. Open that link, or ask
        for another one on the server:
      </p>
      <pre className="mt-3 rounded-md border border-line bg-paper px-3 py-2 text-left font-mono text-sm select-all">
        ./waybill admin setup-link
      </pre>
    </EmptyState>
  );
}

function WithLink({ token, isSignedIn }: { readonly token: string; readonly isSignedIn: boolean }) {
  const router = useRouter();
  const link = useQuery<Link, ApiError>({
    queryKey: ['session-link', token],
    queryFn: () => sessionCall('link', { token }),
    retry: false,
  });
  const isRefused = link.error !== null && link.error.status !== 0 && link.error.status < 500;
  if (!isRefused)
    return (
      <Fetched query={link} lines={4}>
        {(data) => <Choose token={token} link={data} />}
      </Fetched>
    );
  return (
    <EmptyState
      icon={Link2Off}
      title="This link no longer works"
      actions={
        <Button
          label={isSignedIn ? 'To the overview' : 'To sign in'}
          onClick={() => void router.navigate({ to: '/', replace: true })}
        />
      }
    >
      <p>
        A link works once, and not for long. For another one, ask an administrator, or run{' '}
        <code className="font-mono text-ink">waybill admin setup-link</code> on the server.
      </p>
    </EmptyState>
  );
}

function Choose({ token, link }: { readonly token: string; readonly link: Link }) {
  const router = useRouter();
  const isFirst = link.name === null;
  const setUp = useSessionAct('setup', {
    quiet: true,
    onDone: async (view) => {
      // The link leaves the address before anything else is shown, and cannot be gone back to.
      await router.navigate({ to: isFirst ? '/first-steps' : '/', replace: true });
      setSession(view);
    },
  });
  return (
    <div className="space-y-4 p-6">
      <Form
        act={setUp}
        initial={{ name: link.name ?? 'admin', password: '' }}
        request={({ name, password }) => ({
          token,
          name: isFirst ? name.trim().toLowerCase() : null,
          password,
        })}
        check={({ name, password }) => ({ password: passwordFault(password, name) })}
        submit={isFirst ? 'Claim this dashboard' : 'Set password and sign in'}
        wide
      >
        {({ values: { name }, field }) => (
          <>
            <div>
              <h1 className="text-xl font-semibold tracking-tight">
                {isFirst ? 'Welcome to Waybill' : `Hello, ${name}`}
              </h1>
              <p className="mt-1 text-soft">
                {isFirst
                  ? 'You are the first here, and will be its administrator. Choose a name and a password.'
                  : 'Choose a password, and you are signed in.'}
              </p>
            </div>
            {isFirst ? (
              <UserNameField
                hint="What you sign in with: small letters, digits, and . _ @ -"
                {...field('name')}
              />
            ) : (
              <HiddenUserName name={name} />
            )}
            {/* Without a name to choose, the first thing to be done here. */}
            <NewPasswordField name={name} autoFocus={!isFirst} {...field('password')} />
          </>
        )}
      </Form>
      <p className="text-center text-xs text-soft">
        This link ends <Time at={link.expiresAt} />.
      </p>
    </div>
  );
}
