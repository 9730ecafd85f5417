import { integer } from './kinds.ts';
import { live } from './setting.ts';

/** The settings of signing in to the dashboard. */
export const WEBUI_SETTINGS = {
  'webui.session_timeout_minutes': live(
    integer(1, 525_600, 'minutes'),
    480,
    'How long someone who is signed in may do nothing before they must sign in again.',
  ),
  'webui.session_max_hours': live(
    integer(1, 8760, 'hours'),
    168,
    'How long a session lasts however much it is used. Holds for sessions that begin after a change.',
  ),
  'webui.max_sessions_per_user': live(
    integer(1, 1000),
    20,
    'Most sessions of a user at once. One more ends the one that was used longest ago.',
  ),
};
