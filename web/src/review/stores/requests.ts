/** The store of requests that wait for people, and of those decided since. */
import { create } from 'zustand'
import { type Requests, NO_REQUESTS } from '../state/requests.ts'

export const useRequests = create<Requests>()(() => NO_REQUESTS)
