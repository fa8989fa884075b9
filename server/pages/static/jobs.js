// Following a job of the service, such as indexing, to its end.

import { problemOf, request } from "./service.js";

const EVERY = 500; // milliseconds between two looks
const REFUSED = [401, 403, 404]; // statuses that the next look would have too

/** Look at a job until it ends, and show it to `show` each time; resolves to the job as it ended. */
export async function ended(id, show) {
  for (;;) {
    const response = await request(`/v1/jobs/${encodeURIComponent(id)}`).catch(() => null);
    if (response?.ok) {
      const job = await response.json();
      show(job);
      if (job.status !== "running") {
        return job;
      }
    } else if (REFUSED.includes(response?.status)) {
      throw new Error(await problemOf(response));
    }
    await new Promise((next) => setTimeout(next, EVERY));
  }
}
