import { useMutation, useQuery } from '@tanstack/react-query';
import { useRouter } from '@tanstack/react-router';
import { KeyRound, Link2Off } from 'lucide-react';
import { type FormEvent, useState } from 'react';
import type { SessionCalls, SessionView } from '../../../../src/dashboard/contract.ts';
import { type ApiError, sessionCall } from '../../api.ts';
import { faultsOf } from '../../faults.ts';
import { Button } from '../../parts/button.tsx';
import { FormError } from '../../parts/form-error.tsx';
import { EmptyState, ErrorState, LoadingState } from '../../parts/states.tsx';
import { TextField } from '../../parts/text-field.tsx';
import { Time } from '../../parts/values.tsx';
import { setSession } from '../../session.tsx';
import { useTitle } from '../../title.ts';
import { NewPasswordField, strengthOf } from '../sign-in/new-password.tsx';

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
  if (link.data) return <Choose token={token} link={link.data} />;
  if (!link.error) return <LoadingState lines={4} />;
  if (link.error.status === 0 || link.error.status >= 500)
    return <ErrorState error={link.error} onRetry={() => void link.refetch()} />;
  return (
    <EmptyState
      icon={Link2Off}
      title="This link works no more"
      actions={
        <Button onClick={() => void router.navigate({ to: '/', replace: true })}>
          {isSignedIn ? 'To the overview' : 'To sign in'}
        </Button>
      }
    >
      <p>
        A link works once, and within an hour. For another one, ask an administrator, or run{' '}
        <code className="font-mono text-ink">waybill admin setup-link</code> on the server.
      </p>
    </EmptyState>
  );
}

function Choose({ token, link }: { readonly token: string; readonly link: Link }) {
  const router = useRouter();
  const isFirst = link.name === null;
  const [name, setName] = useState(link.name ?? 'admin');
  const [password, setPassword] = useState('');
  const [tried, setTried] = useState(false);
  const setUp = useMutation<SessionView, ApiError, void>({
    mutationFn: () =>
      sessionCall('setup', { token, name: isFirst ? name.trim().toLowerCase() : null, password }),
    onSuccess: async (view) => {
      // The link leaves the address before anything else is shown, and cannot be gone back to.
      await router.navigate({ to: isFirst ? '/first-steps' : '/', replace: true });
      setSession(view);
    },
  });
  const faults = faultsOf(setUp.error, ['name', 'password']);
  const strength = strengthOf(password, name);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setTried(true);
    if (strength.level > 0) setUp.mutate();
  };
  return (
    <form onSubmit={submit} className="space-y-4 p-6">
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
        <TextField
          label="Name"
          name="username"
          autoComplete="username"
          autoCapitalize="none"
          spellCheck={false}
          required
          maxLength={64}
          hint="What you sign in with: small letters, digits, and . _ @ -"
          value={name}
          onChange={setName}
          error={faults.fields['name']}
        />
      ) : (
        // Password managers look for it.
        <input type="text" name="username" autoComplete="username" value={name} readOnly hidden />
      )}
      <NewPasswordField
        name={name}
        value={password}
        onChange={setPassword}
        autoFocus={!isFirst}
        error={faults.fields['password'] ?? (tried && strength.level === 0 ? strength.told : undefined)}
      />
      <FormError>{faults.rest}</FormError>
      <Button type="submit" look="primary" busy={setUp.isPending} className="w-full">
        {isFirst ? 'Claim this dashboard' : 'Set password and sign in'}
      </Button>
      <p className="text-center text-xs text-soft">
        This link ends <Time at={link.expiresAt} />.
      </p>
    </form>
  );
}
