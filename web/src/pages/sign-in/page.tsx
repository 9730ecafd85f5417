import { Fingerprint, LogIn } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import type { SessionView } from '../../../../src/dashboard/contract.ts';
import { Button } from '../../parts/button.tsx';
import { Form } from '../../parts/form.tsx';
import { useTitle } from '../../parts/page.tsx';
import { Banner } from '../../parts/states.tsx';
import { TextField } from '../../parts/text-field.tsx';
import { canHavePasskeys, signInWithPasskey } from '../../passkeys.ts';
import { leaveForProvider } from '../../provider.ts';
import { useDoing } from '../../queries.ts';
import { setSession, useSessionAct } from '../../session.tsx';
import { codeFault, PasswordField, UserNameField } from './new-password.tsx';

/** What is known before somebody has signed in. */
type Anonymous = Extract<SessionView, { state: 'anonymous' }>;
type Provider = NonNullable<Anonymous['provider']>;

/**
 * Signs someone in: by name and password, then by a code of the second factor where they have one; by a passkey, which
 * needs neither; or with an identity provider. `trouble`: why the provider's answer did not.
 */
export function SignInPage({
  view,
  trouble,
}: {
  readonly view: SessionView;
  readonly trouble: Error | undefined;
}) {
  useTitle('Sign in');
  return view.state === 'second_factor' ? (
    <SecondFactor />
  ) : (
    <NameAndPassword view={view.state === 'anonymous' ? view : null} trouble={trouble} />
  );
}

function NameAndPassword({
  view,
  trouble,
}: {
  readonly view: Anonymous | null;
  readonly trouble: Error | undefined;
}) {
  const login = useSessionAct('login', { quiet: true, onDone: setSession });
  return (
    <>
      <div className="p-6">
        {view?.provider && view.signOutUrl && (
          <SignedOutHere name={view.provider.name} url={view.signOutUrl} />
        )}
        <Form
          act={login}
          initial={{ name: '', password: '' }}
          request={({ name, password }) => ({ name: name.trim().toLowerCase(), password })}
          forgets="password"
          submit="Sign in"
          wide
        >
          {({ field }) => (
            <>
              <h1 className="text-xl font-semibold tracking-tight">Sign in</h1>
              {/* There is nothing else to do here. */}
              <UserNameField autoFocus {...field('name')} />
              <PasswordField {...field('password')} />
            </>
          )}
        </Form>
        {view && <OtherWays view={view} trouble={trouble} />}
      </div>
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

/** The ways in without a password here, below the form. */
function OtherWays({ view, trouble }: { readonly view: Anonymous; readonly trouble: Error | undefined }) {
  const hasPasskeys = view.passkeys && canHavePasskeys();
  if (!hasPasskeys && view.provider === null) return null;
  return (
    <div className="mt-5 space-y-3">
      <div className="flex items-center gap-3 text-sm text-soft">
        <span aria-hidden className="h-px flex-1 bg-line" />
        or
        <span aria-hidden className="h-px flex-1 bg-line" />
      </div>
      {view.provider && <ProviderSignIn provider={view.provider} trouble={trouble} />}
      {hasPasskeys && <PasskeySignIn />}
    </div>
  );
}

function ProviderSignIn({
  provider: { name, elsewhere },
  trouble,
}: {
  readonly provider: Provider;
  readonly trouble: Error | undefined;
}) {
  const leave = useDoing(leaveForProvider, { quiet: true });
  const fault = leave.error ?? (leave.isIdle ? trouble : undefined);
  const where = elsewhere === null ? '' : ` at ${new URL(elsewhere).host}`;
  return (
    <>
      <Button
        icon={LogIn}
        label={<span className="truncate">{`Sign in with ${name}${where}`}</span>}
        className="w-full"
        busy={leave.isPending}
        onClick={() => (elsewhere === null ? leave.mutate() : location.assign(elsewhere))}
      />
      {fault && <Banner level="critical" title={fault.message} />}
    </>
  );
}

/** Somebody has signed out here, and may still be signed in at the provider: the next one at this machine, too. */
function SignedOutHere({ name, url }: { readonly name: string; readonly url: string }) {
  return (
    <div className="mb-5">
      <Banner level="info" title="You are signed out here">
        {name} may still know you in this browser.{' '}
        <a className="link rounded-sm" href={url} rel="noreferrer">
          Sign out of {name}, too
        </a>
      </Banner>
    </div>
  );
}

function PasskeySignIn() {
  const signIn = useDoing(signInWithPasskey, { quiet: true, onDone: setSession });
  return (
    <div className="space-y-3">
      <Button
        icon={Fingerprint}
        label="Sign in with a passkey"
        className="w-full"
        busy={signIn.isPending}
        onClick={() => signIn.mutate()}
      />
      {signIn.error && <Banner level="critical" title={signIn.error.message} />}
    </div>
  );
}

function SecondFactor() {
  const [recovery, setRecovery] = useState(false);
  const confirm = useSessionAct('second_factor', { quiet: true, onDone: setSession });
  const leave = useSessionAct('logout', { quiet: true, onDone: setSession });
  // A whole code needs no button.
  const giveWhole = (code: string) => {
    const digits = code.replace(/\s/g, '');
    if (!recovery && /^\d{6}$/.test(digits) && !confirm.isPending) confirm.mutate({ code: digits });
  };
  return (
    <>
      <div className="p-6">
        <Form
          key={String(recovery)}
          act={confirm}
          initial={{ code: '' }}
          request={({ code }) => ({ code: code.trim() })}
          sort={codeFault}
          forgets="code"
          submit="Go on"
          wide
        >
          {({ field }) => {
            const { onChange, ...code } = field('code');
            return (
              <>
                <div>
                  <h1 className="text-xl font-semibold tracking-tight">One more step</h1>
                  <p className="mt-1 text-soft">
                    {recovery
                      ? 'Each recovery code works once. Afterwards, set up the second factor again.'
                      : 'Your password was right. Now enter the code that your authenticator app shows.'}
                  </p>
                </div>
                <TextField
                  label={recovery ? 'Recovery code' : 'Code'}
                  name="code"
                  inputMode={recovery ? 'text' : 'numeric'}
                  autoComplete="one-time-code"
                  spellCheck={false}
                  required
                  maxLength={64}
                  mono
                  autoFocus
                  onChange={(next) => {
                    onChange(next);
                    giveWhole(next);
                  }}
                  {...code}
                />
              </>
            );
          }}
        </Form>
      </div>
      <Foot>
        <div className="flex flex-wrap justify-between gap-2">
          <button
            type="button"
            className="link rounded-sm"
            onClick={() => {
              setRecovery(!recovery);
              confirm.reset();
            }}
          >
            {recovery ? 'Use the app instead' : 'Use a recovery code'}
          </button>
          <button type="button" className="link rounded-sm" onClick={() => leave.mutate({})}>
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
