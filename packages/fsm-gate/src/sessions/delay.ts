/** What timers can count. */

/** The longest delay of `setTimeout`, in milliseconds (24.8 days). A longer one is not waited for: it fires at once. */
export const MAX_DELAY_MS: number = 2_147_483_647;
