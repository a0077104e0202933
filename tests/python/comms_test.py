# comms_test.py - settings, statistics and tree of a communicator.
import json
import unittest

from support import COMPRESSIBLE, MPI, WORLD, gradcoll, main, numpy, random_vector


class Settings(unittest.TestCase):
    def test_options_are_set_and_read(self):
        comm = WORLD.Dup()
        gradcoll.set_option(comm, "gc_compress_bytes", 4096)
        self.assertEqual(gradcoll.get_option(comm, "gc_compress_bytes"), "4096")
        gradcoll.set_codec(comm, "1:4")
        self.assertEqual(gradcoll.get_option(comm, "gc_codec"), "1:4")
        self.assertEqual(gradcoll.get_option(WORLD, "gc_codec"), "exact")
        comm.Free()

    def test_the_codec_of_the_communicator_is_used_from_gc_min_bytes_on(self):
        comm = WORLD.Dup()
        gradcoll.set_codec(comm, "2:4")
        gradcoll.set_option(comm, "gc_compress_bytes", "64K")
        for count, compressed in [(16 * 1024 - 1, 0), (16 * 1024, 1)]:
            gradcoll.reset_stats(comm)
            gradcoll.allreduce(random_vector(count), comm)
            self.assertEqual(gradcoll.stats(comm).calls_compressed, compressed if WORLD.size > 1 else 0)
        comm.Free()

    def test_the_step_chooses_the_phase_of_the_schedule(self):
        comm = WORLD.Dup()
        gradcoll.set_option(comm, "gc_codec", "0:4:4,10:2:4")
        for step, compressed in [(0, 0), (9, 0), (10, 1), (3, 0)]:
            gradcoll.set_step(comm, step)
            gradcoll.reset_stats(comm)
            gradcoll.allreduce(random_vector(COMPRESSIBLE), comm)
            self.assertEqual(gradcoll.stats(comm).calls_compressed, compressed if WORLD.size > 1 else 0)
        comm.Free()


class Shrinking(unittest.TestCase):
    def test_without_ulfm_it_says_what_is_missing(self):
        if MPI.Get_library_version().startswith("Open MPI v5"):
            self.skipTest("this MPI library has ULFM: tests/faults/survive --agree")
        with self.assertRaisesRegex(gradcoll.Error, "MPIX_Comm_shrink"):
            gradcoll.shrink(WORLD)


class Statistics(unittest.TestCase):
    def test_calls_and_bytes_are_counted(self):
        comm = WORLD.Dup()
        self.assertEqual(gradcoll.stats(comm).calls_tree, 0)
        gradcoll.set_codec(comm, "2:4")
        gradcoll.allreduce(random_vector(COMPRESSIBLE), comm)
        stats = gradcoll.stats(comm)
        self.assertEqual((stats.calls_tree, stats.bytes_reduced), (1, 4 * COMPRESSIBLE))
        self.assertGreater(stats.seconds_total, 0)
        if WORLD.size > 1:
            self.assertGreater(stats.messages_sent, 0)
            self.assertGreater(stats.bytes_sent_exact, 1.5 * stats.bytes_sent)
        gradcoll.reset_stats(comm)
        self.assertEqual(gradcoll.stats(comm).calls_tree, 0)
        comm.Free()

    def test_the_reason_of_a_passed_call_is_told(self):
        comm = WORLD.Dup()
        gradcoll.set_option(comm, "gc_shm_bytes", 0)
        gradcoll.allreduce(numpy.zeros(3), comm)
        if WORLD.size > 1:
            self.assertEqual(gradcoll.stats(comm).calls_passed, 1)
            self.assertIn("gc_tree_min_bytes", gradcoll.stats(comm).last_pass_reason)
        comm.Free()


class Trees(unittest.TestCase):
    def test_all_forms_describe_all_ranks(self):
        gradcoll.attach()
        json.loads(gradcoll.tree(None, "json"))
        self.assertIn("graph", gradcoll.tree(None, "dot"))
        self.assertTrue(gradcoll.tree())
        self.assertTrue(gradcoll.tree(None, "origin"))
        comm = WORLD.Dup()
        gradcoll.set_option(comm, "gc_topology", gradcoll.tree(None, "expression"))
        self.assertEqual(gradcoll.tree(comm, "expression"), gradcoll.tree(None, "expression"))
        comm.Free()

    def test_a_tree_can_be_given(self):
        if WORLD.size != 4:
            return
        comm = WORLD.Dup()
        gradcoll.set_option(comm, "gc_topology", "((0 2)(1 3))")
        self.assertEqual(gradcoll.tree(comm, "expression"), "((0 2)(1 3))")
        got = gradcoll.allreduce(numpy.ones(100_000), comm)
        self.assertEqual((got.min(), got.max()), (4, 4))
        comm.Free()


if __name__ == "__main__":
    main()
