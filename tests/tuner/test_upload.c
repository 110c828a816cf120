/* tests/tuner/test_upload.c: operands on the device, and the guards around what kernels write.
 * SPDX-License-Identifier: MIT
 */
#include "tests/tuner/support.h"

static device *open_device(void)
{
    moesaic_text err;
    device *dev;
    assert_status(MOESAIC_OK, device_open(0, &dev, &err), &err);
    return dev;
}

static void test_guards_see_a_write_on_either_side(void **state)
{
    (void)state;
    static const int64_t places[] = {-1, -4000, 1000, 4000};
    moesaic_text err;
    guarded g;
    bool intact;
    int64_t where;
    device *dev = open_device();
    assert_status(MOESAIC_OK, guard_alloc(dev, 1000, 2, &g, &err), &err);
    assert_status(MOESAIC_OK, device_fill(dev, guard_data(&g), 0, 1000, &err), &err);
    assert_status(MOESAIC_OK, guard_check(&g, &intact, &where, &err), &err);
    assert_true(intact);
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        assert_status(MOESAIC_OK, guard_fill(&g, &err), &err);
        char *at = (char *)guard_data(&g) + places[i];
        assert_status(MOESAIC_OK, device_copy_in(dev, at, "", 1, &err), &err);
        assert_status(MOESAIC_OK, guard_check(&g, &intact, &where, &err), &err);
        assert_false(intact);
        assert_int_equal(places[i], where);
    }
    guard_free(&g);
    device_close(dev);
}

static void test_uploads_arrive_with_odd_bases_where_asked(void **state)
{
    (void)state;
    moesaic_text err;
    moe_operands o;
    uint16_t first;
    device *dev = open_device();
    moe_shape shape = small_shape(false, 1, 65, 33);
    make_operands(&shape, 3, 5, &o);
    assert_status(MOESAIC_OK, operands_upload(&o, dev, 100, &err), &err);
    assert_int_equal(2, (uintptr_t)guard_data(&o.d_x) % 16);
    assert_status(MOESAIC_OK, device_copy_out(dev, &first, guard_data(&o.d_x), 2, &err), &err);
    assert_int_equal(o.x[0], first);
    assert_status(MOESAIC_OK, operands_reserve(&o, 5000, &err), &err);
    assert_int_equal(5000, o.d_workspace.n_bytes);
    operands_free(&o);
    device_close(dev);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_guards_see_a_write_on_either_side),
        cmocka_unit_test(test_uploads_arrive_with_odd_bases_where_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
