import { ShieldCheck, ShieldOff } from 'lucide-react';
import { useState } from 'react';
import { plural } from '../../format.ts';
import { Badge } from '../../parts/badge.tsx';
import { Banner } from '../../parts/banner.tsx';
import { Button } from '../../parts/button.tsx';
import { Card } from '../../parts/card.tsx';
import { setSession, useSession } from '../../session.tsx';
import { PasswordDialog } from './password-dialog.tsx';
import { SetUpSecondFactor } from './set-up-second-factor.tsx';
import { useSessionAct } from './use-session-act.ts';

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
          Second factor{' '}
          {user.secondFactor ? (
            <Badge tone="good" dot>
              On
            </Badge>
          ) : (
            <Badge dot>Off</Badge>
          )}
        </span>
      }
    >
      <div className="space-y-4">
        <p className="max-w-prose text-soft">
          {user.secondFactor
            ? `After your password you are asked for a code of your authenticator app. ${plural(user.recoveryCodesLeft, 'recovery code')} left.`
            : 'With a second factor a stolen password is not enough: you are asked for a code of an app on your phone, too.'}
        </p>
        {user.secondFactor && user.recoveryCodesLeft < FEW_CODES && (
          <Banner level="warning" title="Few recovery codes are left">
            Set the second factor up anew to get new ones.
          </Banner>
        )}
        <div className="flex flex-wrap gap-2">
          <Button icon={ShieldCheck} onClick={() => setAsked('set-up')}>
            {user.secondFactor ? 'Set up anew' : 'Set up'}
          </Button>
          {user.secondFactor && (
            <Button look="quiet" icon={ShieldOff} onClick={() => setAsked('remove')}>
              Take away
            </Button>
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
      busy={remove.isPending}
      error={remove.error}
      onConfirm={(password) => remove.mutate({ password })}
      onClose={onClose}
    >
      From then on your password alone is enough to sign in. Your recovery codes end, too.
    </PasswordDialog>
  );
}
