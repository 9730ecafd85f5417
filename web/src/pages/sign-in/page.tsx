import { useMutation } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, useState } from 'react';
import type { SessionView } from '../../../../src/dashboard/contract.ts';
import { type ApiError, sessionCall } from '../../api.ts';
import { faultsOf } from '../../faults.ts';
import { Button } from '../../parts/button.tsx';
import { FormError } from '../../parts/form-error.tsx';
import { SecretField, TextField } from '../../parts/text-field.tsx';
import { setSession, signOut } from '../../session.tsx';
import { useTitle } from '../../title.ts';

/** Signs someone in: by name and password, then by a code of the second factor where they have one. */
export function SignInPage({ view }: { readonly view: SessionView }) {
  useTitle('Sign in');
  return view.state === 'second_factor' ? <SecondFactor /> : <NameAndPassword />;
}

function NameAndPassword() {
  const [name, setName] = useState('');
  const [password, setPassword] = useState('');
  const login = useMutation<SessionView, ApiError, void>({
    mutationFn: () => sessionCall('login', { name: name.trim().toLowerCase(), password }),
    onSuccess: setSession,
    onError: () => setPassword(''),
  });
  const faults = faultsOf(login.error, []);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    login.mutate();
  };
  return (
    <>
      <form onSubmit={submit} className="space-y-4 p-6">
        <h1 className="text-xl font-semibold tracking-tight">Sign in</h1>
        <TextField
          label="Name"
          name="username"
          autoComplete="username"
          autoCapitalize="none"
          spellCheck={false}
          required
          maxLength={64}
          // There is nothing else to do here.
          autoFocus
          value={name}
          onChange={setName}
        />
        <SecretField
          label="Password"
          name="password"
          autoComplete="current-password"
          required
          maxLength={1024}
          value={password}
          onChange={setPassword}
        />
        <FormError>{faults.rest}</FormError>
        <Button type="submit" look="primary" busy={login.isPending} className="w-full">
          Sign in
        </Button>
      </form>
      <Foot>
        <details>
          <summary className="rounded-sm">Forgot your password?</summary>
          <p className="mt-2">
            Ask an administrator for a new link, or, on the server, run{' '}
            <code className="font-mono text-ink">waybill admin setup-link</code>.
          </p>
        </details>
      </Foot>
    </>
  );
}

function SecondFactor() {
  const [code, setCode] = useState('');
  const [recovery, setRecovery] = useState(false);
  const confirm = useMutation<SessionView, ApiError, string>({
    mutationFn: (given) => sessionCall('second_factor', { code: given.trim() }),
    onSuccess: setSession,
    onError: () => setCode(''),
  });
  const leave = useMutation<void, ApiError, void>({ mutationFn: signOut });
  const change = (next: string) => {
    setCode(next);
    // A whole code needs no button.
    const digits = next.replace(/\s/g, '');
    if (!recovery && /^\d{6}$/.test(digits) && !confirm.isPending) confirm.mutate(digits);
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!confirm.isPending) confirm.mutate(code);
  };
  return (
    <>
      <form onSubmit={submit} className="space-y-4 p-6">
        <div>
          <h1 className="text-xl font-semibold tracking-tight">One more step</h1>
          <p className="mt-1 text-soft">
            {recovery
              ? 'Each recovery code works once. Afterwards, set up the second factor anew.'
              : 'Your password was right. Now the code that your authenticator app shows.'}
          </p>
        </div>
        <TextField
          key={String(recovery)}
          label={recovery ? 'Recovery code' : 'Code'}
          name="code"
          inputMode={recovery ? 'text' : 'numeric'}
          autoComplete="one-time-code"
          spellCheck={false}
          required
          maxLength={64}
          mono
          autoFocus
          value={code}
          onChange={change}
          error={confirm.error?.message}
        />
        <Button type="submit" look="primary" busy={confirm.isPending} className="w-full">
          Go on
        </Button>
      </form>
      <Foot>
        <div className="flex flex-wrap justify-between gap-2">
          <button
            type="button"
            className="link rounded-sm"
            onClick={() => {
              setRecovery(!recovery);
              setCode('');
              confirm.reset();
            }}
          >
            {recovery ? 'Use the app instead' : 'Use a recovery code'}
          </button>
          <button type="button" className="link rounded-sm" onClick={() => leave.mutate()}>
            Start over
          </button>
        </div>
      </Foot>
    </>
  );
}

function Foot({ children }: { readonly children: ReactNode }) {
  return <div className="border-t border-line bg-paper px-6 py-3.5 text-sm text-soft">{children}</div>;
}
