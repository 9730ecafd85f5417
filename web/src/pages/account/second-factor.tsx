import type { UseMutationResult } from '@tanstack/react-query';
import { Download, ShieldCheck, ShieldOff } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import type { SessionCalls } from '../../../../src/dashboard/contract.ts';
import { plural } from '../../format.ts';
import { StatusBadge } from '../../parts/badge.tsx';
import { Button } from '../../parts/button.tsx';
import { Copyable, CopyButton, saveFile } from '../../parts/copy.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Form } from '../../parts/form.tsx';
import { Card } from '../../parts/page.tsx';
import { Banner } from '../../parts/states.tsx';
import { TextField } from '../../parts/text-field.tsx';
import { refreshSession, setSession, useSession, useSessionAct } from '../../session.tsx';
import { codeFault, HiddenUserName, PasswordField } from '../sign-in/new-password.tsx';

/** Sets up a second factor: password, QR code, first code, recovery codes. */
function SetUpSecondFactor({ onClose }: { readonly onClose: () => void }) {
  const begin = useSessionAct('totp_begin', { quiet: true });
  const confirm = useSessionAct('totp_confirm', { quiet: true });
  const close = () => {
    if (confirm.data) refreshSession();
    onClose();
  };
  if (confirm.data) return <RecoveryCodes codes={confirm.data.recoveryCodes} onClose={close} />;
  if (begin.data)
    return (
      <Form
        sheet={{
          title: 'Scan this with your app',
          description: 'Nothing changes until you enter a correct first code.',
        }}
        act={confirm}
        initial={{ code: '' }}
        request={({ code }) => ({ code: code.replace(/\s/g, '') })}
        sort={codeFault}
        submit="Turn it on"
        onClose={onClose}
      >
        {({ field }) => (
          <>
            <Begun {...begin.data} />
            <TextField
              label="The code that it shows now"
              className="max-w-56"
              mono
              inputMode="numeric"
              autoComplete="one-time-code"
              required
              maxLength={12}
              {...field('code')}
            />
          </>
        )}
      </Form>
    );
  return (
    <PasswordDialog
      title="Set up a second factor"
      confirm="Go on"
      act={begin}
      request={(values) => values}
      onClose={onClose}
    >
      You need an authenticator app, such as Aegis, 2FAS, or the one in your password manager.
    </PasswordDialog>
  );
}

function Begun({ qr, secret, url }: SessionCalls['totp_begin']['answer']) {
  return (
    <div className="flex flex-wrap items-start gap-5">
      <QrCode rows={qr} label="QR code for your authenticator app" />
      <div className="min-w-0 flex-1 basis-52 space-y-3">
        <div>
          <div className="font-medium">Or type this key into it</div>
          <Copyable text={secret} />
        </div>
        <a href={url} className="link text-sm">
          Open it in an app on this device
        </a>
      </div>
    </div>
  );
}

function RecoveryCodes({
  codes,
  onClose,
}: {
  readonly codes: readonly string[];
  readonly onClose: () => void;
}) {
  const { user } = useSession();
  const text = `Waybill recovery codes of ${user.name}. Each works once.\n\n${codes.join('\n')}\n`;
  return (
    // Whoever closes this by a slip has lost them: only the button does.
    <Dialog
      title="Keep these recovery codes"
      description="Each signs you in once if you do not have your app. They are shown only once."
      footer={
        <>
          <CopyButton text={text} label="Copy the recovery codes">
            Copy
          </CopyButton>
          <Button
            small
            icon={Download}
            label="Download"
            onClick={() =>
              saveFile(
                `data:text/plain;charset=utf-8,${encodeURIComponent(text)}`,
                'waybill-recovery-codes.txt',
              )
            }
          />
          <Button look="primary" label="I have kept them" onClick={onClose} />
        </>
      }
    >
      <ol className="grid grid-cols-1 gap-x-6 gap-y-1 rounded-md border border-line bg-paper px-4 py-3 font-mono sm:grid-cols-2">
        {codes.map((code) => (
          <li key={code} className="select-all">
            {code}
          </li>
        ))}
      </ol>
    </Dialog>
  );
}

/** Light modules around a code, so that cameras find it. */
const QUIET = 3;

/** A QR code from its rows, `1` for black. Always dark on light: cameras want it so. */
function QrCode({ rows, label }: { readonly rows: readonly string[]; readonly label: string }) {
  const size = rows.length + QUIET * 2;
  return (
    <svg
      role="img"
      aria-label={label}
      viewBox={`0 0 ${size} ${size}`}
      shapeRendering="crispEdges"
      className="size-44 shrink-0 rounded-md border border-line"
    >
      <rect width={size} height={size} fill="#fff" />
      <path d={qrPath(rows)} fill="#000" />
    </svg>
  );
}

/** The black modules as one path: a run of them is one rectangle. */
export function qrPath(rows: readonly string[]): string {
  return rows
    .flatMap((row, y) =>
      [...row.matchAll(/1+/g)].map(
        ({ index, 0: run }) => `M${index + QUIET} ${y + QUIET}h${run.length}v1h-${run.length}z`,
      ),
    )
    .join('');
}

/** So few recovery codes are few. */
const FEW_CODES = 3;

/** The second factor: whether there is one, and how to set it up or take it away. */
export function SecondFactorCard() {
  const { user } = useSession();
  const [asked, setAsked] = useState<'set-up' | 'remove' | null>(null);
  const close = () => setAsked(null);
  return (
    <Card
      title={
        <span className="inline-flex items-center gap-2">
          Second factor <StatusBadge status={user.secondFactor ? 'on' : 'off'} />
        </span>
      }
    >
      <div className="space-y-4">
        <p className="max-w-prose text-soft">
          {user.secondFactor
            ? `After your password you are asked for a code from your authenticator app. ${plural(user.recoveryCodesLeft, 'recovery code')} left.`
            : 'With a second factor a stolen password is not enough: you are also asked for a code from an app on your phone.'}
        </p>
        {user.secondFactor && user.recoveryCodesLeft < FEW_CODES && (
          <Banner level="warning" title="Few recovery codes are left">
            Set the second factor up anew to get new ones.
          </Banner>
        )}
        <div className="flex flex-wrap gap-2">
          <Button
            icon={ShieldCheck}
            label={user.secondFactor ? 'Set up again' : 'Set up'}
            onClick={() => setAsked('set-up')}
          />
          {user.secondFactor && (
            <Button look="quiet" icon={ShieldOff} label="Take away" onClick={() => setAsked('remove')} />
          )}
        </div>
      </div>
      {asked === 'set-up' && <SetUpSecondFactor onClose={close} />}
      {asked === 'remove' && <RemoveSecondFactor onClose={close} />}
    </Card>
  );
}

function RemoveSecondFactor({ onClose }: { readonly onClose: () => void }) {
  const remove = useSessionAct('totp_remove', {
    quiet: true,
    done: 'The second factor is taken away',
    onDone: (view) => {
      setSession(view);
      onClose();
    },
  });
  return (
    <PasswordDialog
      title="Take the second factor away?"
      confirm="Take it away"
      danger
      act={remove}
      request={(values) => values}
      onClose={onClose}
    >
      After that your password alone is enough to sign in. Your recovery codes become invalid, too.
    </PasswordDialog>
  );
}

/** Asks for the password once more, before something that only its owner may do. */
export function PasswordDialog<Result, Request>({
  title,
  confirm,
  danger = false,
  act,
  request,
  onClose,
  children,
}: {
  readonly title: string;
  readonly confirm: string;
  readonly danger?: boolean;
  readonly act: UseMutationResult<Result, Error, Request>;
  readonly request: (values: { readonly password: string }) => Request;
  readonly onClose: () => void;
  readonly children: ReactNode;
}) {
  const { user } = useSession();
  return (
    <Form
      sheet={{ title: title, size: 'small' }}
      act={act}
      initial={{ password: '' }}
      request={request}
      submit={confirm}
      look={danger ? 'danger' : 'primary'}
      onClose={onClose}
    >
      {({ field }) => (
        <>
          <p>{children}</p>
          <HiddenUserName name={user.name} />
          <PasswordField label="Your password" {...field('password')} />
        </>
      )}
    </Form>
  );
}
