import { Page } from '../../parts/page.tsx';
import { useSession } from '../../session.tsx';
import { OwnSessionsCard } from './own-sessions-card.tsx';
import { PasswordCard } from './password-card.tsx';
import { SecondFactorCard } from './second-factor-card.tsx';

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
